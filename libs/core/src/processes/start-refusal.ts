/** Thrown if the machine or the settings make the start impossible. The message is one line for the operator. The process exits with 2. */
export class StartRefusal extends Error {
  override name = 'StartRefusal'
}
