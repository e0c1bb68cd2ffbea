import { z } from 'zod'

/** Addresses separated by commas. */
const addresses = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .pipe(z.array(z.url()))

/** Settings of every process on the bus, by the names of its environment; `.env.example` describes them. */
export const busEnv = z.object({
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: addresses.default([]),
  NATS_REPLICAS: z.enum(['1', '3', '5']).default('1').transform(Number),
})

/** Where the bus is. */
export interface BusPlace {
  /** One server, or those of a cluster separated by commas, that of this machine first: it is tried first. */
  readonly url: string
  /**
   * The monitoring addresses of all servers: the only way to check that writes are synced before they are acknowledged.
   * Without them a warning says that this is unchecked; streams with several replicas need them.
   */
  readonly monitorUrls?: readonly string[]
  /** On how many servers each stream is stored, 1 by default; one that exists with another number is BusMisconfigured. */
  readonly replicas?: number
}

export const busPlace = (config: Readonly<z.infer<typeof busEnv>>): BusPlace => ({
  url: config.NATS_URL,
  monitorUrls: config.NATS_MONITOR_URL,
  replicas: config.NATS_REPLICAS,
})
