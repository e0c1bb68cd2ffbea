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
  const isAll = rows.length === before.length && rows.every((row, at) => row === before[at])
  return isAll ? before : rows
}

function isSame(a: object, b: object): boolean {
  const one = Object.entries(a)
  const other = b as Readonly<Record<string, unknown>>
  return one.length === Object.keys(b).length && one.every(([name, value]) => other[name] === value)
}
