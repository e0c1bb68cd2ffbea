import { signal, type ReadonlySignal } from '@preact/signals'
import type { LiquidationRecord, SocketClient } from '../../client/index.js'

/** The newest liquidations of all markets, while a view shows them. */
export interface Liquidations {
  /** Newest first; undefined before the first snapshot. */
  readonly all: ReadonlySignal<readonly LiquidationRecord[] | undefined>
  /** Follows them until the returned function is called. */
  readonly follow: () => () => void
}

const KEPT = 200

export function createLiquidations(
  socket: Pick<SocketClient, 'subscribeLiquidations'>,
): Liquidations {
  const all = signal<readonly LiquidationRecord[] | undefined>(undefined)
  const follow = (): (() => void) =>
    socket.subscribeLiquidations({
      onSnapshot: (newest) => (all.value = newest),
      // An event that the chain has lost did not happen.
      onUpdate(changed) {
        const keys = new Set(changed.map(keyOf))
        const kept = (all.value ?? []).filter((one) => !keys.has(keyOf(one)))
        const came = changed.filter(({ reversed }) => reversed !== true).reverse()
        all.value = [...came, ...kept].slice(0, KEPT)
      },
    })
  return { all, follow }
}

const keyOf = ({ market, tx_hash: hash, log_index: at }: LiquidationRecord): string =>
  `${market} ${hash} ${at}`
