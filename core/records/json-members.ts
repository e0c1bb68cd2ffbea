import { jsonText } from '../json.js'

/**
 * A record as JSON text, declared member by member. The compiler holds the declaration to the record's shape in `interface/`: a
 * member that is missing here, that the shape does not have, or whose value has another type does not compile. The writer is made
 * of the declaration once, since V8 takes several times as long to build such an object and to turn it into text.
 */

type MemberValue<Value, Shown, Market> = (shown: Shown, market: Market) => Value

/** How a value becomes JSON: `quoted` only puts it in quotes, `bare` not even that. A writer is given what is shown, too. */
type MemberForm = 'quoted' | 'bare' | ((value: never, shown: never) => string)

/** A member that every record has. */
interface Member<Value, Shown, Market> {
  readonly form: MemberForm
  readonly valueOf: MemberValue<Value, Shown, Market>
}

/** A member that a record may lack. */
export interface OptionalMember<Value, Shown, Market> {
  readonly form: MemberForm
  readonly valueIfAny: MemberValue<Value | undefined, Shown, Market>
}

/** One of several members that follow from the market alone. */
interface MarketMember<Value, Market> {
  readonly membersOf: (market: Market) => Readonly<Record<string, unknown>>
  /** In types alone. */
  readonly value?: Value
}

type MemberOf<Shape, Key extends keyof Shape, Shown, Market> =
  Record<never, never> extends Pick<Shape, Key>
    ? OptionalMember<Exclude<Shape[Key], undefined>, Shown, Market>
    : Member<Shape[Key], Shown, Market> | MarketMember<Shape[Key], Market>

/** Every member of a record, in the order in which they are written. */
export type Members<Shape, Shown, Market> = {
  readonly [Key in keyof Shape]-?: MemberOf<Shape, Key, Shown, Market>
}

/** What declares the members of a record that is made of `Shown` and its market. */
export function membersFrom<Shown, Market = undefined>() {
  const required =
    (form: MemberForm) =>
    <Value>(valueOf: MemberValue<Value, Shown, Market>): Member<Value, Shown, Market> => ({
      form,
      valueOf,
    })
  const optional =
    (form: MemberForm) =>
    <Value>(
      valueIfAny: MemberValue<Value | undefined, Shown, Market>,
    ): OptionalMember<Value, Shown, Market> => ({ form, valueIfAny })
  return {
    /** Text that JSON does not escape: digits, hex, words of a closed set, times. */
    quoted: required('quoted'),
    /** Any text. */
    escaped: required(jsonText),
    /** A number or a flag. */
    bare: required('bare'),
    ifAny: {
      quoted: optional('quoted'),
      escaped: optional(jsonText),
      bare: optional('bare'),
      /** By a writer of its own. */
      written: <Value>(
        valueIfAny: MemberValue<Value | undefined, Shown, Market>,
        form: (value: Value, shown: Shown) => string,
      ): OptionalMember<Value, Shown, Market> => ({ form, valueIfAny }),
    },
    /** By a writer of its own. */
    written: <Value>(
      valueOf: MemberValue<Value, Shown, Market>,
      form: (value: Value, shown: Shown) => string,
    ): Member<Value, Shown, Market> => ({ form, valueOf }),
    /** Members that follow from the market: the same text in each of its records, made once while the market's object is the same. */
    ofMarket: <Of extends object>(
      names: Readonly<Record<keyof Of, true>>,
      membersOf: (market: Market) => Of,
    ) => {
      const member = { membersOf }
      return Object.fromEntries(Object.keys(names).map((name) => [name, member])) as unknown as {
        readonly [Key in keyof Of]: MarketMember<Of[Key], Market>
      }
    },
  }
}

/** Writes an object as JSON text. */
type Writer<Shown, Market> = [Market] extends [undefined]
  ? (shown: Shown) => string
  : (shown: Shown, market: Market) => string

/** Code for one object. */
interface WriterCode {
  readonly pieces: string[]
  /** What the code refers to, by name. */
  readonly values: Map<string, unknown>
}

/**
 * The writer of an object of these members; the first must not be optional. Only names of declared members get into the code.
 */
export function objectWriter<Shape, Shown, Market = undefined>(
  members: Members<Shape, Shown, Market>,
): Writer<Shown, Market> {
  const code: WriterCode = { pieces: [], values: new Map() }
  const groups = new Set<unknown>()
  for (const [name, member] of Object.entries(members as unknown as AnyMembers)) {
    if (member.membersOf !== undefined) {
      if (!groups.has(member.membersOf)) addGroup(code, member.membersOf)
      groups.add(member.membersOf)
    } else addMember(code, name, member)
  }
  const { pieces, values } = code
  const text = `return (shown, market) => { let value; return \`{${pieces.join('')}}\` }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function(...values.keys(), text) as (...used: unknown[]) => Writer<Shown, Market>
  return make(...values.values())
}

type AnyMembers = Readonly<Record<string, AnyMember>>

interface AnyMember {
  readonly form?: MemberForm
  readonly valueOf?: unknown
  readonly valueIfAny?: unknown
  readonly membersOf?: (market: never) => Readonly<Record<string, unknown>>
}

function use({ values }: WriterCode, value: unknown): string {
  const name = `used${values.size}`
  values.set(name, value)
  return name
}

function addMember(code: WriterCode, name: string, { form, valueOf, valueIfAny }: AnyMember): void {
  const { pieces } = code
  const key = `${pieces.length === 0 ? '' : ','}${JSON.stringify(name)}:`
  const json = (value: string): string => {
    if (form === 'bare') return `\${${value}}`
    return form === 'quoted' ? `"\${${value}}"` : `\${${use(code, form)}(${value}, shown)}`
  }
  if (valueIfAny === undefined) {
    pieces.push(`${key}${json(`${use(code, valueOf)}(shown, market)`)}`)
    return
  }
  const given = `(value = ${use(code, valueIfAny)}(shown, market))`
  pieces.push(`\${${given} === undefined ? '' : \`${key}${json('value')}\`}`)
}

function addGroup(code: WriterCode, membersOf: NonNullable<AnyMember['membersOf']>): void {
  const known = new WeakMap<object, string>()
  const write = (market: object): string => {
    let text = known.get(market)
    if (text === undefined) {
      text = JSON.stringify(membersOf(market as never)).slice(1, -1)
      known.set(market, text)
    }
    return text
  }
  code.pieces.push(`${code.pieces.length === 0 ? '' : ','}\${${use(code, write)}(market)}`)
}
