import { describe, expect, it } from 'vitest'
import { OpenFile } from './open-file.js'

function kept() {
  let released = 0
  const file = new OpenFile({ fd: 7, offset: 100, length: 50, release: () => void released++ })
  return { file, released: () => released }
}

describe('OpenFile', () => {
  it('releases the part once it is retired', () => {
    const { file, released } = kept()
    file.acquire().release()
    expect(released()).toBe(0)
    file.retire()
    expect(released()).toBe(1)
  })

  it('stays open as long as a response is sent from it, even if it is retired meanwhile', () => {
    const { file, released } = kept()
    const [one, other] = [file.acquire(), file.acquire()]
    file.retire()
    one.release()
    one.release()
    expect(released()).toBe(0)
    other.release()
    expect(released()).toBe(1)
  })
})
