import { assert } from '../assert.js'
import { malformed, type Codec } from './codec.js'

/** A list of at least `min` and at most `max` items. */
export function list<T>(item: Codec<T>, min = 0, max = Infinity): Codec<readonly T[]> {
  const { write, read } = item
  return {
    write: (items, field) => `[${items.map((item) => write(item, field)).join(',')}]`,
    read(json, field) {
      if (!Array.isArray(json)) return malformed(field, 'a list')
      if (json.length < min || json.length > max) {
        return malformed(field, `a list of ${min} to ${max}`)
      }
      return json.map((each) => read(each, field))
    },
  }
}

/** Values by name, whatever the names. */
export const dictionary = <T>(value: Codec<T>): Codec<Readonly<Record<string, T>>> => ({
  write: (values) =>
    `{${Object.entries(values)
      .map(([name, each]) => `${JSON.stringify(name)}:${value.write(each, name)}`)
      .join(',')}}`,
  read(json, field) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      return malformed(field, 'an object')
    }
    const entries = Object.entries(json as Readonly<Record<string, unknown>>)
    return Object.fromEntries(entries.map(([name, each]) => [name, value.read(each, name)]))
  },
})

/** A type that travels in the form of another. `from` may refuse a value by `malformed`. */
export const mapped = <T, Form>(
  form: Codec<Form>,
  to: (value: T) => Form,
  from: (form: Form) => T,
): Codec<T> => ({
  write: (value, field) => form.write(to(value), field),
  read: (json, field) => from(form.read(json, field)),
})

/** A field that may be absent from its object; it travels as `null` then. */
export interface OptionalField<T> {
  readonly optional: Codec<T>
}

/** A field that stands at the end of the list, and only while it is present. */
export interface AppendedField<T> {
  readonly appended: Codec<T>
}

/** A field that stands at the end of the list, and only while it does not follow from others. */
export interface AppendedUsualField<T, Whole> extends AppendedField<T> {
  readonly usual: (whole: Whole) => T
}

/** A field that nearly always follows from others; it travels as `null` then. */
export interface UsualField<T, Whole> {
  readonly codec: Codec<T>
  readonly usual: (whole: Whole) => T
}

/** A field that always follows from others. It does not travel. */
export interface ImpliedField<T, Whole> {
  readonly implied: (whole: Whole) => T
}

/** A field that is set after the object was read. It does not travel. */
export interface LaterField<T> {
  readonly placeholder: T
}

export const optional = <T>(codec: Codec<T>): OptionalField<T> => ({ optional: codec })

/**
 * For a field that a declaration got later: what was written before reads as without it, and is still what is written.
 * Such fields are the last that travel; one that is left out before one that is not travels as `null`.
 */
export const appended = <T>(codec: Codec<T>): AppendedField<T> => ({ appended: codec })

/** The same for a field that always is there: what was written before reads as if it were as usual. */
export const appendedUnless = <T, Whole>(
  codec: Codec<T>,
  usual: (whole: Whole) => T,
): AppendedUsualField<T, Whole> => ({ appended: codec, usual })

export const usually = <T, Whole>(
  codec: Codec<T>,
  usual: (whole: Whole) => T,
): UsualField<T, Whole> => ({ codec, usual })

/** `from` is given the object with all fields that travel; an object with another value breaks an invariant. */
export const implied = <T, Whole>(from: (whole: Whole) => T): ImpliedField<T, Whole> => ({
  implied: from,
})

export const later = <T>(placeholder: T): LaterField<T> => ({ placeholder })

type FieldOf<T, K extends keyof T> =
  Record<never, never> extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>> | AppendedField<Exclude<T[K], undefined>>
    : | Codec<T[K]>
      | UsualField<T[K], T>
      | AppendedUsualField<T[K], T>
      | ImpliedField<T[K], T>
      | LaterField<T[K]>

/** What is declared for each field of an object; a field that is missing here does not compile. */
export type FieldCodecs<T> = { readonly [K in keyof T]-?: FieldOf<T, K> }

/**
 * An object with exactly these fields. It travels as the list of their values in the order of the declaration: without
 * their names it is a third shorter and parsed in half the time. The list's length is exact, so that a field too many or
 * too few is refused.
 */
export const struct = <T extends object>(fields: FieldCodecs<T>): Codec<T> => compile(fields)

interface Kinds {
  readonly kind: string
}
/** The fields of each kind of a union, without `kind` itself; a kind that is missing here does not compile. */
export type Variants<T extends Kinds> = {
  readonly [K in T['kind']]: FieldCodecs<Omit<Extract<T, { readonly kind: K }>, 'kind'>>
}

/** One of several objects that differ by `kind`, which travels first. */
export function union<T extends Kinds>(variants: Variants<T>): Codec<T> {
  const codecs = new Map<unknown, Codec<T>>()
  for (const [kind, fields] of Object.entries(variants)) {
    codecs.set(kind, compile(fields as FieldCodecs<T>, kind))
  }
  return {
    write: (value) => (codecs.get(value.kind) as Codec<T>).write(value),
    read(json, field) {
      const codec = Array.isArray(json) ? codecs.get(json[0]) : undefined
      return codec === undefined ? malformed(field, 'of a known kind') : codec.read(json, field)
    },
  }
}

type AnyField = Partial<Codec<unknown>> &
  Partial<OptionalField<unknown>> &
  Partial<AppendedField<unknown>> &
  Partial<UsualField<unknown, unknown>> &
  Partial<ImpliedField<unknown, unknown>>

/** Generated code for the fields of one object. */
interface StructCode {
  /** Conditions that the object must meet to be written. */
  readonly checks: string[]
  /** The JSON of each field that travels, as a piece of a template. */
  readonly writes: string[]
  /** The fields that may follow: whether the object to write has one, and its JSON. */
  readonly tail: { readonly isThere: string; readonly written: string }[]
  /** Members of the literal of the object that is read. */
  readonly members: string[]
  /** Statements that complete it. */
  readonly completions: string[]
  /** What the code refers to, by name. */
  readonly values: Map<string, unknown>
}

/**
 * Makes the codec as code in which each field has its name. A loop over the fields takes a third longer to read an order,
 * and V8 keeps what it makes in more memory. Only names of declared fields and kinds get into the code.
 */
function compile<T extends object>(fields: FieldCodecs<T>, kind?: string): Codec<T> {
  const tag = kind === undefined ? [] : [JSON.stringify(kind)]
  const code: StructCode = {
    checks: [],
    writes: [...tag],
    tail: [],
    members: tag.map((text) => `kind: ${text}`),
    completions: [],
    values: new Map<string, unknown>([
      ['assert', assert],
      ['malformed', malformed],
    ]),
  }
  for (const [name, field] of Object.entries(fields)) addField(code, name, field as AnyField)
  const { checks, writes, tail, members, completions, values } = code
  const longest = writes.length + tail.length
  const text = `return {
    write(value) {
      ${checks.join('\n')}
      return \`[${writes.join(',')}${tail.map(tailPiece).join('')}]\`
    },
    read(json, field) {
      if (!Array.isArray(json) || json.length < ${writes.length} || json.length > ${longest}) {
        malformed(field, 'a list of ${writes.length} fields')
      }
      const read = { ${members.join(', ')} }
      ${completions.join('\n')}
      return read
    },
  }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function(...values.keys(), text) as (...used: unknown[]) => Codec<T>
  return make(...values.values())
}

/** A field that may follow is written while it, or one after it, is there. */
function tailPiece(
  { isThere, written }: StructCode['tail'][number],
  i: number,
  tail: StructCode['tail'],
) {
  const needed = tail.slice(i).map((field) => field.isThere)
  return `\${${needed.join(' || ')} ? ',' + (${isThere} ? ${written} : 'null') : ''}`
}

function addField(code: StructCode, name: string, field: AnyField): void {
  const { checks, writes, tail, members, completions, values } = code
  const key = JSON.stringify(name)
  const use = (what: string, value: unknown): string => {
    const known = `${what}${values.size}`
    values.set(known, value)
    return known
  }
  if ('placeholder' in field) {
    members.push(`${key}: ${use('placeholder', field.placeholder)}`)
    return
  }
  if (field.implied !== undefined) {
    const from = use('implied', field.implied)
    checks.push(`assert(value[${key}] === ${from}(value), ${JSON.stringify(`${name} disagrees`)})`)
    members.push(`${key}: undefined`)
    completions.push(`read[${key}] = ${from}(read)`)
    return
  }
  assert(tail.length === 0 || field.appended !== undefined, `${name} follows an appended field`)
  const place = writes.length + tail.length
  const at = `json[${place}]`
  const codec = field.optional ?? field.appended ?? field.codec ?? field
  const write = use('write', codec.write)
  const read = use('read', codec.read)
  const given = `value[${key}]`
  const taken = `${read}(${at}, ${key})`
  const written = `${write}(${given}, ${key})`
  if (field.appended !== undefined) {
    // The last of a list is there, so that each object has one form.
    const isRead = `json.length === ${place + 1} || (json.length > ${place + 1} && ${at} !== null)`
    if (field.usual === undefined) {
      tail.push({ isThere: `${given} !== undefined`, written })
      completions.push(`if (${isRead}) read[${key}] = ${taken}`)
      return
    }
    const usual = use('usual', field.usual)
    tail.push({ isThere: `${given} !== ${usual}(value)`, written })
    members.push(`${key}: undefined`)
    completions.push(`read[${key}] = ${usual}(read)
      if (${isRead}) {
        const other = ${taken}
        if (other === read[${key}]) malformed(${key}, 'left out, as it must be')
        read[${key}] = other
      }`)
  } else if (field.optional !== undefined) {
    writes.push(`\${${given} === undefined ? 'null' : ${written}}`)
    completions.push(`if (${at} !== null) read[${key}] = ${taken}`)
  } else if (field.usual !== undefined) {
    const usual = use('usual', field.usual)
    writes.push(`\${${given} === ${usual}(value) ? 'null' : ${written}}`)
    members.push(`${key}: ${at} === null ? undefined : ${taken}`)
    completions.push(`if (${at} === null) read[${key}] = ${usual}(read)
      else if (read[${key}] === ${usual}(read)) malformed(${key}, 'left out, as it must be')`)
  } else {
    const piece = `\${${codec.form === undefined ? written : given}}`
    writes.push(codec.form === 'quoted' ? `"${piece}"` : piece)
    members.push(`${key}: ${taken}`)
  }
}
