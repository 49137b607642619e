/** Something that several use at once, a descriptor say: it is closed when it has been retired and its last user has released it. */
export class SharedHandle {
  readonly #close: () => void
  /** the owner, until it retires the handle, counts as one */
  #users = 1

  constructor(close: () => void) {
    this.#close = close
  }

  /** Keeps it open until the returned function is called, which may be called more than once. Throws where it is closed already. */
  acquire(): () => void {
    if (this.#users === 0) throw new Error('the handle is closed')
    this.#users++
    let released = false
    return () => {
      if (!released) this.#release()
      released = true
    }
  }

  /** There will be no new users. To be called once. */
  retire(): void {
    this.#release()
  }

  #release(): void {
    this.#users--
    if (this.#users === 0) this.#close()
  }
}
