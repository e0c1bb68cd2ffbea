/**
 * The new rows, each replaced by the one of before that has its key and the same fields: what has not changed stays the same object,
 * and is not drawn again.
 */
export function sameRows<Row extends object>(
  before: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => unknown,
): readonly Row[] {
  const known = new Map(before.map((row) => [keyOf(row), row]))
  const rows = now.map((row) => {
    const old = known.get(keyOf(row))
    return old !== undefined && isSame(old, row) ? old : row
  })
  return sameList(before, rows)
}

/** What was read again, each record as the object of before that says the same: what was made of it is not made again. */
export function sameRecords<Read extends object>(
  before: readonly Read[],
  now: readonly Read[],
): readonly Read[] {
  const known = new Map(before.map((record) => [JSON.stringify(record), record]))
  return sameList(
    before,
    now.map((record) => known.get(JSON.stringify(record)) ?? record),
  )
}

const sameList = <Item>(before: readonly Item[], now: readonly Item[]): readonly Item[] =>
  now.length === before.length && now.every((item, at) => item === before[at]) ? before : now

function isSame(a: object, b: object): boolean {
  const one = Object.entries(a)
  const other = b as Readonly<Record<string, unknown>>
  return one.length === Object.keys(b).length && one.every(([name, value]) => other[name] === value)
}
