import { statfs } from 'node:fs/promises'
import { decodePingAnswer } from '../../bus-schemas/operations.js'
import { askPing, commandsStream } from '../../bus-schemas/subjects.js'
import { mayBeReadLater, NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { readStorage, readStoreDir } from '../../runtime/bus/nats-monitor.js'
import type { Logger } from '../../runtime/process/log.js'
import type { TakenLog } from './command-log.js'
import type { OrderIntakeConfig } from './config.js'

/** Largest lag of a matcher behind its log, in messages; beyond it orders are refused. */
export const MAX_BEHIND = 5_000
/** Largest share of the bus's storage in use, per mille; the rest is for cancels and the venue's own commands. */
const MAX_STORED_PERMILLE = 900n
const CHECK_EVERY_MS = 1_000
const PING_TIMEOUT_MS = 1_000

/** Used and available storage of the bus, in bytes. */
export interface Storage {
  readonly usedBytes: bigint
  readonly maxBytes: bigint
}

/** A file system that the venue writes to, in bytes. */
export interface Disk {
  /** `data`: that of DATA_DIR; `bus`: that of the bus's streams. */
  readonly place: 'data' | 'bus'
  readonly freeBytes: bigint
  readonly totalBytes: bigint
}

/** How much of a file system stays free for cancels and the venue's own commands: the greater of both. */
interface DiskReserve {
  readonly bytes: bigint
  readonly permille: bigint
}

/** Below this a file system takes no new orders; rounded down. */
export function leastFree({ totalBytes }: Disk, { bytes, permille }: DiskReserve): bigint {
  const share = (totalBytes * permille) / 1_000n
  return share > bytes ? share : bytes
}

interface AdmissionOptions {
  readonly bus: Pick<Bus, 'ask' | 'streamState'>
  /** Read anew each time: a market that is added counts from then on. */
  readonly markets: readonly string[]
  /** Undefined when it is not known. */
  readonly readStorage: () => Promise<Storage | undefined>
  /** The file systems that can be looked at. */
  readonly readDisks: () => Promise<readonly Disk[]>
  readonly reserve: DiskReserve
  readonly log: Logger
  readonly checkEveryMs?: number
}

/** Whether new orders are accepted. Cancels always are: they free resources. */
export interface OrderAdmission {
  /** Why the market accepts no orders now; undefined when it does, or when the state is not known. */
  readonly trouble: (market: string) => string | undefined
  /** From now on, calls back with what a market's matcher has taken of its log, at each look. */
  listen(onTaken: OnTaken): void
  stop(): Promise<void>
}

type OnTaken = (market: string, taken: TakenLog) => void

/** Checks the storage of the bus, the free disk and the lag of each matcher once a second. */
export function watchAdmission(options: AdmissionOptions): OrderAdmission {
  const { markets, log, checkEveryMs = CHECK_EVERY_MS } = options
  const reached = new Map<string, number>()
  let onTaken: OnTaken = () => undefined
  const troubles = new Map<string, string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  const report = (market: string, trouble: string | undefined): void => {
    if ((trouble === undefined) === (troubles.get(market) === undefined)) return
    if (trouble === undefined) {
      troubles.delete(market)
      log.info({ market }, 'orders are taken again')
    } else {
      troubles.set(market, trouble)
      log.warn({ market, why: trouble }, 'orders are refused')
    }
  }
  const lastKnown = (market: string) => (error: unknown) => {
    if (mayBeReadLater(error)) return troubles.get(market)
    throw error
  }
  const look: DiskLook = { reached, onTaken: (market, taken) => onTaken(market, taken) }
  const check = async (): Promise<void> => {
    const full =
      describeFull(await options.readStorage().catch(() => undefined)) ??
      describeFullDisk(await options.readDisks().catch(() => []), options.reserve)
    for (const market of markets) {
      const trouble = full ?? (await lagOf(options, market, look).catch(lastKnown(market)))
      report(market, trouble)
    }
  }
  const checkThenWait = async (): Promise<void> => {
    await check()
    if (!stopped) timer = setTimeout(checkAgain, checkEveryMs)
  }
  const checkAgain = (): void => {
    checking = checkThenWait()
  }
  let checking = checkThenWait()
  return {
    trouble: (market) => troubles.get(market),
    listen: (listener) => void (onTaken = listener),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await checking
    },
  }
}

function describeFull(storage: Storage | undefined): string | undefined {
  if (storage === undefined || storage.maxBytes <= 0n) return undefined
  const { usedBytes, maxBytes } = storage
  const isFull = usedBytes * 1_000n >= maxBytes * MAX_STORED_PERMILLE
  return isFull ? `the bus has stored ${usedBytes} of ${maxBytes} bytes` : undefined
}

function describeFullDisk(disks: readonly Disk[], reserve: DiskReserve): string | undefined {
  const full = disks.find((disk) => disk.freeBytes < leastFree(disk, reserve))
  if (full === undefined) return undefined
  const { place, freeBytes } = full
  const where = place === 'data' ? 'DATA_DIR is' : 'the streams of the bus are'
  return `${freeBytes} bytes are free where ${where}, of ${leastFree(full, reserve)} that stay free`
}

interface DiskLook {
  /** By market, the last message of its log that its matcher has applied. */
  readonly reached: Map<string, number>
  readonly onTaken: OnTaken
}

/** For a matcher that does not answer, its last known position counts. */
async function lagOf(
  { bus }: AdmissionOptions,
  market: string,
  { reached, onTaken }: DiskLook,
): Promise<string | undefined> {
  const { lastSeq } = await bus.streamState(commandsStream(market))
  try {
    const ping = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), PING_TIMEOUT_MS)
    const { positions } = decodePingAnswer(ping)
    const { command_seq: streamSeq, intake_no: lastNo, feed_seq: feedSeq } = positions
    if (streamSeq !== undefined) {
      reached.set(market, streamSeq)
      if (lastNo !== undefined && feedSeq !== undefined) {
        onTaken(market, { streamSeq, lastNo, feedSeq })
      }
    }
  } catch (error) {
    // The matcher is down or late: its last known position stands.
    if (!(error instanceof NoAnswer)) throw error
  }
  const behind = lastSeq - (reached.get(market) ?? lastSeq)
  return behind > MAX_BEHIND ? `the matcher is ${behind} messages behind its log` : undefined
}

/** The room that there is for new orders, and what of it is kept. */
export type StorageRoom = Pick<AdmissionOptions, 'readStorage' | 'readDisks' | 'reserve'>

export const roomOf = (config: OrderIntakeConfig): StorageRoom => ({
  readStorage: () => readStorage(config.NATS_MONITOR_URL),
  readDisks: createDiskReader(config.DATA_DIR, config.NATS_MONITOR_URL),
  reserve: { bytes: config.DISK_RESERVE_BYTES, permille: config.DISK_RESERVE_PERMILLE },
})

/**
 * Reads the file systems of DATA_DIR and of the streams of a server on this machine; one that cannot be read is left out. What a
 * server elsewhere may store is in its own report (`readStorage`).
 */
export function createDiskReader(
  dataDir: string,
  monitorUrls: readonly string[],
): () => Promise<readonly Disk[]> {
  let storeDir: string | undefined
  return async () => {
    storeDir ??= await readStoreDir(monitorUrls).catch(() => undefined)
    const disks = [readDisk('data', dataDir)]
    if (storeDir !== undefined) disks.push(readDisk('bus', storeDir))
    return (await Promise.all(disks)).flatMap((disk) => disk ?? [])
  }
}

async function readDisk(place: Disk['place'], path: string): Promise<Disk | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path, { bigint: true })
    return { place, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    // A server of another user keeps its directory to itself.
    return undefined
  }
}
