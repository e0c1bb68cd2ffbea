import type { BusMessage, FollowOptions } from '../../../runtime/bus/bus.js'

/** What the tests of the bus look at it with. */

export const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
export const textOf = (data: Uint8Array): string => Buffer.from(data).toString('utf8')
export const textsOf = (messages: readonly BusMessage[]): string[] =>
  messages.map(({ data }) => textOf(data))

/** What a promise is rejected with; fails when it is not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`resolved with ${JSON.stringify(outcome.value)}`)
}

/** A follower that keeps what it was given. */
export function recorder(stream: string, fromSeq: number) {
  const seqs: number[] = []
  const texts: string[] = []
  const errors: Error[] = []
  const options: FollowOptions = {
    stream,
    fromSeq,
    onMessage: ({ seq, data }) => {
      seqs.push(seq)
      texts.push(textOf(data))
    },
    onError: (error) => errors.push(error),
  }
  return { seqs, texts, errors, options }
}

/** 1, 2, ... n from `first` on. */
export const run = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => first + n)
