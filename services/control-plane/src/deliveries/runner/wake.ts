/** Sleeps that anybody may cut short; a call that comes while nobody sleeps shortens the next one. */
export class Wake {
  #called = false
  #rouse: (() => void) | null = null

  call(): void {
    this.#called = true
    this.#rouse?.()
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#called) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#rouse = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#rouse = null
    }
    this.#called = false
  }
}
