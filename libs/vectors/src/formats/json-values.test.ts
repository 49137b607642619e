import { expect, test } from 'vitest'
import { jsonValue, parseJson, seenIn, typeOfSeen } from './json-values.js'

function column(...texts: string[]) {
  const values = texts.map((text) => (parseJson(`{"a":${text}}`) as { a: unknown }).a)
  const type = typeOfSeen(values.reduce<number>((seen, value) => seen | seenIn(value), 0))
  return { type, values: values.map((value) => jsonValue(value, type)) }
}

test('long whole numbers that were written from doubles are numbers among fractions', () => {
  for (const long of ['-9007199254740992', '29665724186204670'])
    expect(column(long, '0.5')).toEqual({
      type: 'number',
      values: [BigInt(long), 0.5],
    })
})

test('long whole numbers whose digits a double changes stay exact among fractions', () => {
  expect(column('29665724186204671', '0.5')).toEqual({
    type: 'json',
    values: ['29665724186204671', '0.5'],
  })
})

test('a column of long whole numbers is exact', () => {
  expect(column('29665724186204670', '1')).toEqual({
    type: 'integer',
    values: [29665724186204670n, 1],
  })
})
