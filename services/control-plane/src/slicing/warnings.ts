import { type CodedMessage, coded, isMessageCode, type MessageCode } from '@gateway/contracts/messages.js'
import type { PlanLine, ResultLine } from '@gateway/contracts/tiling/protocol.js'
import type { NewSliceJob, StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { realFormat } from './tool-request.js'

/** The checked fields of a submission. */
interface Submitted {
  readonly target_code: string
  readonly zoom_min: number
  readonly zoom_max?: number | 'native' | undefined
  readonly tile_format: string
  readonly encoding: NewSliceJob['encoding']
}

/** Returns warnings about accepted values of a submission that are probably not intended. Pure. */
export function submissionWarnings(
  body: Submitted,
  sourcePaths: readonly string[],
  targetCode: string,
): CodedMessage[] {
  const warnings: CodedMessage[] = []
  if (body.zoom_max === undefined) warnings.push(coded('slice_zoom_max_missing', { zoom: body.zoom_min }))
  const format = realFormat(body.tile_format, body.encoding)
  if (format !== body.tile_format.toLowerCase()) {
    warnings.push(coded('slice_tile_format_replaced', { asked: JSON.stringify(body.tile_format), format }))
  }
  if (targetCode !== body.target_code) {
    const asked = JSON.stringify(body.target_code)
    warnings.push(coded('slice_target_code_changed', { asked, code: JSON.stringify(targetCode) }))
  }
  const repeated = new Set(sourcePaths.filter((path, i) => sourcePaths.indexOf(path) !== i))
  const [example] = repeated
  if (example !== undefined) {
    warnings.push(coded('slice_source_repeated', { count: repeated.size, example: JSON.stringify(example) }))
  }
  return warnings
}

/** Returns a warning that names the differences from the existing job with the same code; null if the jobs do not differ. Pure. */
export function knownJobWarning(wanted: NewSliceJob, known: StoredSliceJob): CodedMessage | null {
  const isSame: Readonly<Record<string, boolean>> = {
    target_code: wanted.targetCode === known.targetCode,
    source_paths: wanted.sourcePaths.join('\n') === known.sourcePaths.join('\n'),
    zoom_min: wanted.zoomMin === known.zoomMin,
    // The zoom of the images replaces `native`.
    zoom_max:
      wanted.zoomMaxNative === known.zoomMaxNative && (wanted.zoomMaxNative || wanted.zoomMax === known.zoomMax),
    tile_size: wanted.tileSize === known.tileSize,
    tile_format: wanted.tileFormat === known.tileFormat,
    tile_matrix_set: wanted.tileMatrixSet === known.tileMatrixSet,
    encoding: wanted.encoding === known.encoding,
    resampling: wanted.resampling === known.resampling,
    output: wanted.output === null || wanted.output === known.output,
  }
  const fields = Object.keys(isSame).filter((field) => !isSame[field])
  return fields.length === 0
    ? null
    : coded('slice_code_known', { code: JSON.stringify(known.code), fields: fields.join(', ') })
}

/** Number of zooms above that of the images that people request on purpose, for maps that are drawn larger. */
const USUAL_ENLARGEMENT = 2

const OF_PLAN: ReadonlySet<MessageCode> = new Set(['slice_zoom_min_above_native', 'slice_zoom_max_above_native'])

/** True if a warning comes from the plan of a run, and not from the submission. */
export function isOfPlan(code: MessageCode): boolean {
  return OF_PLAN.has(code)
}

/** Returns warnings based on the headers of the images. An operator's own tool may not report their zoom. Pure. */
export function planWarnings(
  { zoomMin, zoomMax, zoomMaxNative }: Pick<NewSliceJob, 'zoomMin' | 'zoomMax' | 'zoomMaxNative'>,
  { native_zoom: native }: Pick<PlanLine, 'native_zoom'>,
): CodedMessage[] {
  if (native === undefined) return []
  if (zoomMin > native) return [coded('slice_zoom_min_above_native', { zoom_min: zoomMin, native })]
  const isDeep = !zoomMaxNative && zoomMax > native + USUAL_ENLARGEMENT
  return isDeep ? [coded('slice_zoom_max_above_native', { zoom_max: zoomMax, native })] : []
}

/** Returns the code and parameters of a failure's reason. An operator's own tool may send anything. */
export function codedReason(result: Extract<ResultLine, { ok: false }>): CodedMessage | null {
  const { message_code: code, message_params: params = {} } = result
  return code !== undefined && isMessageCode(code) ? { code, params } : null
}
