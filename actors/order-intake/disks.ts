import { statfs } from 'node:fs/promises'
import { readStorage, readStoreDir } from '../../runtime/bus/nats-monitor.js'
import type { AdmissionOptions, Disk } from './admission.js'
import type { OrderIntakeConfig } from './config.js'

/** The room that there is for new orders, and what of it is kept. */
export type Room = Pick<AdmissionOptions, 'readStorage' | 'readDisks' | 'reserve'>

export const roomOf = (config: OrderIntakeConfig): Room => ({
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
