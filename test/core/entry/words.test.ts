import { expect } from 'chai'
import {
  addressAt,
  addressOfWord,
  isWords,
  readWords,
  wordAt,
  wordOf,
  writeWords,
} from '../../../core/entry/read-action.js'

/** Values around every length at which reading might change its way. */
const values = [0n, 4n, 8n, 52n, 53n, 54n, 55n, 56n, 57n, 60n, 64n, 128n, 160n, 255n].flatMap(
  (bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n],
)

describe('words of signed data', () => {
  it('keep every bit of any value, at any place', () => {
    for (const value of values) {
      expect(readWords(writeWords([value]), 1), String(value)).to.deep.equal([value])
      expect(wordAt(writeWords([7n, value, 9n]), 1), String(value)).to.equal(value)
    }
    expect(readWords(writeWords(values), values.length)).to.deep.equal(values)
    expect(readWords(`0x${'f'.repeat(64)}`, 1)).to.deep.equal([2n ** 256n - 1n])
  })

  it('hold negative values in two’s complement', () => {
    expect(wordOf(-1n)).to.equal('f'.repeat(64))
    expect(wordOf(-(2n ** 255n))).to.equal(`8${'0'.repeat(63)}`)
  })

  it('are whole, and hex behind a prefix', () => {
    const word = '0a'.repeat(32)
    expect(isWords(`0x${word}`, 1)).to.equal(true)
    for (const bad of [
      word,
      `0x${word}0`,
      `0x${word.slice(1)}`,
      `0x${word.slice(1)}g`,
      `${word}0x`,
    ]) {
      expect(isWords(bad, 1), bad).to.equal(false)
    }
    expect(isWords(`0x${word}`, 2)).to.equal(false)
    expect(isWords(`00${word}`, 1)).to.equal(false)
  })

  it('hold an address with clean high bytes alone', () => {
    const highest = 2n ** 160n - 1n
    expect(addressOfWord(highest)).to.equal(`0x${'f'.repeat(40)}`)
    expect(addressOfWord(1n)).to.equal(`0x${'0'.repeat(39)}1`)
    expect(addressOfWord(highest + 1n)).to.equal(undefined)
    const data = writeWords([highest, highest + 1n, 1n])
    expect(addressAt(data, 0)).to.equal(`0x${'f'.repeat(40)}`)
    expect(addressAt(data, 1)).to.equal(undefined)
    expect(addressAt(data, 2)).to.equal(`0x${'0'.repeat(39)}1`)
  })
})
