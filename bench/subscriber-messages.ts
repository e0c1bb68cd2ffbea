/** First message to a process of subscribers. */
export interface SubscribersTask {
  readonly port: number
  readonly sockets: number
  /** Sequence of the first expected change, and the number of changes. */
  readonly firstSeq: number
  readonly changes: number
}

/** Its final message, after it received the append time of each change. */
export interface Received {
  readonly gaps: number
  readonly duplicates: number
  /** Histogram of delivery times: count by tenths of a millisecond. */
  readonly tenthsOfMs: readonly (readonly [number, number])[]
}
