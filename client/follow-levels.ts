import type { LevelDepth } from '../interface/market-data.js'
import { createLocalLevels, type LocalLevels } from './local-levels.js'
import type { SocketClient } from './socket.js'

export interface LevelsHandler {
  /** The levels after a snapshot or an update; the same object each time. */
  onChange(levels: LocalLevels): void
  /** The levels did not fit their checksum; a snapshot follows. */
  onMismatch?(): void
  /** The venue refused the subscription, for example with `unknown_market`; it has ended. */
  onRefused?(code: string, message: string): void
}

export interface LevelsOptions {
  /** Levels of each side; 25 by default. */
  readonly depth?: LevelDepth
}

/**
 * Keeps the best levels of a market through reconnects until the returned function is called. Each frame is held to its
 * checksum; where it does not fit, the subscription begins again with a snapshot.
 */
export function followLevels(
  socket: Pick<SocketClient, 'subscribe'>,
  market: string,
  { depth, ...handler }: LevelsHandler & LevelsOptions,
): () => void {
  const levels = createLocalLevels()
  let stop = start()

  function start(): () => void {
    const options = depth === undefined ? {} : { depth }
    return socket.subscribe(
      'levels',
      market,
      {
        onSnapshot: (data, seq) => show(levels.reset(data, seq)),
        onUpdate: (data, seq) => show(levels.apply(data, seq)),
        onRefused: (code, message) => handler.onRefused?.(code, message),
      },
      options,
    )
  }

  function show(isAsSent: boolean): void {
    if (isAsSent) return handler.onChange(levels)
    handler.onMismatch?.()
    stop()
    stop = start()
  }

  return () => stop()
}
