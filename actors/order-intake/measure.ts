import type { Metrics } from '../../runtime/metrics/metrics.js'
import { leastFree, type OrderAdmission, type StorageRoom } from './admission.js'
import type { OrderIntake } from './intake.js'

export interface MeasuredAdmission {
  /** Read anew each time: a market that is added is measured from then on. */
  readonly markets: readonly string[]
  readonly admission: Pick<OrderAdmission, 'trouble'>
  readonly room: Pick<StorageRoom, 'readDisks' | 'reserve'>
}

/** Reads at each scrape whether the markets take orders, the free disk, and what of it is kept from new orders. */
export function sampleAdmission(
  metrics: Metrics,
  { markets, admission, room }: MeasuredAdmission,
): void {
  metrics.sample('venue_orders_refused', () =>
    markets.map((market) => [{ market }, admission.trouble(market) === undefined ? 0 : 1]),
  )
  metrics.sample('venue_disk_free_bytes', async () =>
    (await room.readDisks()).map(({ place, freeBytes }) => [{ place }, Number(freeBytes)]),
  )
  metrics.sample('venue_disk_reserve_bytes', async () =>
    (await room.readDisks()).map((disk) => [
      { place: disk.place },
      Number(leastFree(disk, room.reserve)),
    ]),
  )
}

/** Reads at each scrape how many commands wait for their market's log. */
export function sampleQueues(metrics: Metrics, { waiting }: Pick<OrderIntake, 'waiting'>): void {
  metrics.sample('venue_intake_queue', () =>
    waiting().map(([market, commands]) => [{ market }, commands]),
  )
}
