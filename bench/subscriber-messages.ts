/** What a process of subscribers is told first. */
export interface SubscribersTask {
  readonly port: number
  readonly sockets: number
  /** Sequence of the first change that is to come, and how many come. */
  readonly firstSeq: number
  readonly changes: number
}

/** What it tells in the end, once it knows when each change was appended. */
export interface Received {
  readonly gaps: number
  readonly duplicates: number
  /** How many deliveries took so many tenths of a millisecond. */
  readonly tenthsOfMs: readonly (readonly [number, number])[]
}
