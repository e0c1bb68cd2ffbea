import { expect } from 'chai'
import { asJsonObject, fieldOf, parseAddress } from '../../core/json.js'

describe('fields of a JSON object', () => {
  it('are read of an object alone', () => {
    const object = { a: 1 }
    expect(asJsonObject(object)).to.equal(object)
    for (const other of [null, [], [object], 'a', 7, true, undefined]) {
      expect(asJsonObject(other), JSON.stringify(other)).to.equal(undefined)
    }
  })

  it('are absent when null, empty or inherited (ORD-010)', () => {
    const fields = { a: 1, none: null, empty: '', zero: 0, no: false, blank: ' ' }
    expect(fieldOf(fields, 'a')).to.equal(1)
    expect(fieldOf(fields, 'zero')).to.equal(0)
    expect(fieldOf(fields, 'no')).to.equal(false)
    expect(fieldOf(fields, 'blank')).to.equal(' ')
    for (const name of ['none', 'empty', 'b', 'toString', '__proto__']) {
      expect(fieldOf(fields, name), name).to.equal(undefined)
    }
  })
})

describe('an address in JSON', () => {
  it('is forty hex digits of either case, read in lower case (MON-007)', () => {
    expect(parseAddress(`0x${'aB'.repeat(20)}`)).to.equal(`0x${'ab'.repeat(20)}`)
    const bad = [
      ...[`0x${'ab'.repeat(19)}a`, `0x${'ab'.repeat(20)}a`, `0X${'ab'.repeat(20)}`],
      ...['ab'.repeat(21), `0x${'ag'.repeat(20)}`, ` x${'ab'.repeat(20)}`, 7, null],
      [`0x${'ab'.repeat(20)}`],
    ]
    for (const value of bad) expect(parseAddress(value), String(value)).to.equal(undefined)
  })
})
