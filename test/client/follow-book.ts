import { createLocalBook, type LocalBook, type SocketClient } from '../../client/index.js'

/** A local book that follows a market, with the sequences of what it was given. */
export interface FollowedBook {
  readonly book: LocalBook
  readonly snapshots: number[]
  readonly updates: number[]
  readonly stop: () => void
}

export function followBook(client: SocketClient, market: string): FollowedBook {
  const book = createLocalBook()
  const snapshots: number[] = []
  const updates: number[] = []
  const stop = client.subscribe('book', market, {
    onSnapshot(data, seq) {
      snapshots.push(seq)
      book.reset(data, seq)
    },
    onUpdate(data, seq) {
      updates.push(seq)
      book.apply(data, seq)
    },
  })
  return { book, snapshots, updates, stop }
}
