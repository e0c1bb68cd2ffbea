import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import {
  address,
  flag,
  hash,
  hex,
  int,
  jsonObject,
  MalformedMessage,
  oneOf,
  position,
  text,
  uint,
  whole,
  type Codec,
} from '../../../core/wire/codec.js'
import {
  appended,
  appendedUnless,
  dictionary,
  implied,
  later,
  list,
  optional,
  struct,
  union,
  usually,
} from '../../../core/wire/compound.js'

const written = <T>(codec: Codec<T>, value: T): unknown => JSON.parse(codec.write(value))

interface Thing {
  readonly name: string
  readonly alias: string
  readonly size: bigint
  readonly note?: string
  readonly length: number
  readonly place: number
}
const thing = struct<Thing>({
  name: text,
  alias: usually(text, ({ name }) => name),
  size: uint,
  note: optional(text),
  length: implied(({ name }) => name.length),
  place: later(0),
})
const aThing: Thing = { name: 'pear', alias: 'pear', size: 7n, length: 4, place: 0 }

describe('declared objects', () => {
  it('may have got a field later, which stands at the end while it is present', () => {
    interface Later {
      readonly name: string
      readonly colour?: string
      readonly length: number
    }
    const codec = struct<Later>({
      name: text,
      colour: appended(text),
      length: implied(({ name }) => name.length),
    })
    const before: Later = { name: 'pear', length: 4 }
    expect(codec.write(before)).to.equal('["pear"]')
    expect(codec.write({ ...before, colour: 'red' })).to.equal('["pear","red"]')
    expect(codec.read(['pear'], 'later')).to.deep.equal(before)
    expect(codec.read(['pear', 'red'], 'later')).to.deep.equal({ ...before, colour: 'red' })
    for (const bad of [['pear', null], ['pear', 'red', 'ripe'], []]) {
      expect(() => codec.read(bad, 'later')).to.throw(MalformedMessage)
    }
    expect(() => struct<Later>({ colour: appended(text), name: text, length: whole })).to.throw(
      'name follows an appended field',
    )
  })

  it('may have got several fields later, one of which nearly always follows from others', () => {
    interface Later {
      readonly name: string
      readonly colour?: string
      readonly length: number
    }
    const codec = struct<Later>({
      name: text,
      colour: appended(text),
      length: appendedUnless(whole, ({ name }) => name.length),
    })
    const usual: Later = { name: 'pear', length: 4 }
    const forms: readonly (readonly [Later, unknown[]])[] = [
      [usual, ['pear']],
      [{ ...usual, colour: 'red' }, ['pear', 'red']],
      [{ ...usual, length: 5 }, ['pear', null, 5]],
      [{ ...usual, colour: 'red', length: 5 }, ['pear', 'red', 5]],
    ]
    for (const [value, form] of forms) {
      expect(JSON.parse(codec.write(value))).to.deep.equal(form)
      expect(codec.read(form, 'later')).to.deep.equal(value)
    }
    for (const bad of [
      ['pear', null],
      ['pear', null, 4],
      ['pear', null, null],
      ['pear', 'red', 5, 1],
    ]) {
      expect(() => codec.read(bad, 'later')).to.throw(MalformedMessage)
    }
  })

  it('travel as the list of their fields', () => {
    expect(thing.write(aThing)).to.equal('["pear",null,"7",null]')
    const noted = { ...aThing, alias: 'pyrus', note: 'a "ripe" one' }
    expect(thing.write(noted)).to.equal('["pear","pyrus","7","a \\"ripe\\" one"]')
    expect(thing.read(written(thing, aThing), 'thing')).to.deep.equal(aThing)
    expect(thing.read(written(thing, noted), 'thing')).to.deep.equal(noted)
  })

  it('are refused with a field too many or too few, or in another form', () => {
    for (const bad of [
      [],
      ['pear', null, '7'],
      ['pear', null, '7', null, null],
      ['pear', 'pear', '7', null],
      [1, null, '7', null],
      { name: 'pear' },
      'pear',
      null,
    ]) {
      expect(() => thing.read(bad, 'thing'), JSON.stringify(bad)).to.throw(MalformedMessage)
    }
  })

  it('break an invariant where an implied field says otherwise', () => {
    expect(() => thing.write({ ...aThing, length: 5 })).to.throw(InvariantBroken, 'length')
  })

  it('give a reader’s error the name of the field', () => {
    expect(() => thing.read(['pear', null, 7, null], 'thing')).to.throw(MalformedMessage, 'size')
  })
})

describe('integers on the wire', () => {
  const edges = [15, 16, 17].flatMap((digits) => [
    10n ** BigInt(digits) - 1n,
    10n ** BigInt(digits),
  ])
  const words = [53n, 54n, 55n, 56n, 64n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits + 1n])

  for (const value of [...edges, ...words]) {
    it(`keep every digit of ${value}`, () => {
      expect(uint.read(written(uint, value), 'n')).to.equal(value)
      expect(int.read(written(int, -value), 'n')).to.equal(-value)
    })
  }
})

describe('bytes, hashes and objects on the wire', () => {
  const refuses = <T>(codec: Codec<T>, ...values: readonly unknown[]) => {
    for (const value of values) {
      expect(() => codec.read(value, 'it'), JSON.stringify(value)).to.throw(MalformedMessage, 'it')
    }
  }
  const aHash = `0x${'0a'.repeat(32)}`

  it('are taken in their form alone', () => {
    expect(hex.read('0xAb', 'it')).to.equal('0xAb')
    refuses(hex, 7, null, ['0xab'], 'ab', '0xg', ' 0xab', '0xab ')
    expect(hash.read(aHash, 'it')).to.equal(aHash)
    refuses(hash, [aHash], null, aHash.toUpperCase(), `${aHash}00`, aHash.slice(0, -1))
    expect(jsonObject.read({ a: 1 }, 'it')).to.deep.equal({ a: 1 })
    refuses(jsonObject, null, [], 'text', 7, undefined)
  })

  it('share the text of an address that was read before', () => {
    const addressText = `0x${'1c'.repeat(20)}`
    expect(address.read(addressText, 'it')).to.equal(addressText)
    expect(address.read(addressText, 'it')).to.equal(addressText)
    refuses(address, [addressText], addressText.toUpperCase(), `${addressText}0`, null)
  })
})

describe('declared unions', () => {
  type Shape =
    | { readonly kind: 'circle'; readonly radius: bigint }
    | { readonly kind: 'dot' }
    | { readonly kind: 'path'; readonly steps: readonly bigint[] }
  const shape = union<Shape>({ circle: { radius: uint }, dot: {}, path: { steps: list(int) } })

  it('travel with their kind first', () => {
    for (const [value, json] of [
      [{ kind: 'circle', radius: 2n }, ['circle', '2']],
      [{ kind: 'dot' }, ['dot']],
      [{ kind: 'path', steps: [1n, -1n] }, ['path', ['1', '-1']]],
    ] satisfies [Shape, unknown][]) {
      expect(written(shape, value)).to.deep.equal(json)
      expect(shape.read(json, 'shape')).to.deep.equal(value)
    }
  })

  it('are refused when their kind is not known', () => {
    for (const bad of [
      [],
      ['square', '2'],
      ['circle'],
      ['dot', 1],
      { kind: 'dot' },
      ['toString'],
    ]) {
      expect(() => shape.read(bad, 'shape'), JSON.stringify(bad)).to.throw(MalformedMessage)
    }
  })
})

describe('declared values', () => {
  const refused: readonly (readonly [string, Pick<Codec<unknown>, 'read'>, readonly unknown[]])[] =
    [
      ['text', text, [1, null, []]],
      ['flag', flag, [0, 'true', null]],
      ['whole', whole, [-1, 1.5, 2 ** 53, '1', null]],
      ['position', position, [0, -1, '1']],
      ['uint', uint, [1, '01', '-1', '1.5', '1e3', ' 1', '', '0x1', '9'.repeat(79), null]],
      ['int', int, [1, '-0', '-01', '--1', '-', '-' + '9'.repeat(79), null]],
      ['address', address, [`0x${'A'.repeat(40)}`, `0x${'1'.repeat(39)}`, '1'.repeat(42), 1]],
      ['hex', hex, ['', 'ab', '0xg', 1]],
      ['oneOf', oneOf<'a' | 'b'>({ a: true, b: true }), ['c', 'A', 'toString', 1]],
      ['list', list(whole, 1, 2), [[], [1, 2, 3], ['1'], {}, null]],
      ['dictionary', dictionary(whole), [[], null, { a: '1' }]],
    ]
  for (const [name, codec, values] of refused) {
    it(`of ${name} are refused in any other form`, () => {
      for (const bad of values) {
        expect(() => codec.read(bad, 'field'), JSON.stringify(bad)).to.throw(MalformedMessage)
      }
    })
  }

  it('keep an address once, however often it is read', () => {
    const one = address.read(`0x${'ab'.repeat(20)}`, 'owner')
    // Two addresses that share the digits by which they are kept.
    const other = `0x${'cd'.repeat(18)}abab`
    expect(address.read(other, 'owner')).to.equal(other)
    expect(address.read(`0x${'ab'.repeat(20)}`, 'owner')).to.equal(one)
  })

  it('keep numbers of every size', () => {
    for (const value of [0n, 7n, 10n ** 15n - 1n, 10n ** 15n, 10n ** 18n + 1n, 2n ** 256n - 1n]) {
      expect(uint.read(written(uint, value), 'n')).to.equal(value)
      expect(int.read(written(int, -value), 'n')).to.equal(-value)
    }
  })
})
