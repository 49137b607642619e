/** A resource with several users, such as a descriptor. It is closed when it has been retired and its last user has released it. */
export class SharedHandle {
  readonly #close: () => void
  /** the owner counts as one user until it retires the handle */
  #users = 1

  constructor(close: () => void) {
    this.#close = close
  }

  /** Keeps the resource open until the returned function is called, possibly more than once. Throws if it is already closed. */
  acquire(): () => void {
    if (this.#users === 0) throw new Error('the handle is closed')
    this.#users++
    let released = false
    return () => {
      if (!released) this.#release()
      released = true
    }
  }

  /** Ends the acceptance of new users. Must be called once. */
  retire(): void {
    this.#release()
  }

  #release(): void {
    this.#users--
    if (this.#users === 0) this.#close()
  }
}
