/** The start is impossible as the machine or the settings are. The message is one line for the operator; the process exits with 2. */
export class StartRefusal extends Error {
  override name = 'StartRefusal'
}
