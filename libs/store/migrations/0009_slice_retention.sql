-- compatible: yes
-- Who submitted a job, so that one token cannot fill the queue; null: an administrator, or a version of the program that did not tell.
ALTER TABLE slice_jobs ADD COLUMN submitted_by uuid;
CREATE INDEX slice_jobs_open_by_token ON slice_jobs (submitted_by) WHERE status IN ('pending', 'running');

-- Who asked when for a running job to be cancelled, in words; and whether that is what ended it.
ALTER TABLE slice_jobs ADD COLUMN cancel_reason text;
ALTER TABLE slice_jobs ADD COLUMN cancelled boolean NOT NULL DEFAULT false;

-- Jobs that ended long ago go; what they laid into a layer stays known.
CREATE INDEX slice_jobs_ended ON slice_jobs (finished_at) WHERE finished_at IS NOT NULL;
ALTER TABLE layer_sources ALTER COLUMN job_id DROP NOT NULL;
ALTER TABLE layer_sources DROP CONSTRAINT layer_sources_job_id_fkey;
ALTER TABLE layer_sources ADD CONSTRAINT layer_sources_job_id_fkey
  FOREIGN KEY (job_id) REFERENCES slice_jobs (id) ON DELETE SET NULL;
CREATE INDEX layer_sources_by_job ON layer_sources (job_id);
