import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import type { BusUser } from '../../bus-schemas/permissions.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { busSeedsDir, readAccess, type BusPlace } from '../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'

/** The bus of the venue that ./venue up runs in a directory. */
export function venueBusPlace(dataDir: string): BusPlace {
  const { nats } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { nats: number }
  return { url: `nats://127.0.0.1:${nats}`, credentials: busSeedsDir(dataDir) }
}

/** Connects to it as one of its users. */
export const connectToVenueBus = (dataDir: string, user: BusUser): Promise<Bus> =>
  connectNatsBus({ ...venueBusPlace(dataDir), name: 'test', user })

/** The same without the bus's own client. */
export const connectPlainly = (place: BusPlace, user?: BusUser): Promise<NatsConnection> =>
  connect({ ...readAccess(place, user), reconnect: false })
