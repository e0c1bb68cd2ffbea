/** A query parameter as koa gives it, a repeated one as an array. */
export type QueryValue = string | string[] | undefined

/** A positive integer of at most `max`, given once; `absent` when not given, undefined for anything else. */
export function readPositive(
  asked: QueryValue,
  absent: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (asked === undefined) return absent
  if (typeof asked !== 'string' || !/^[0-9]{1,16}$/.test(asked)) return undefined
  const value = Number(asked)
  return value >= 1 && value <= max ? value : undefined
}
