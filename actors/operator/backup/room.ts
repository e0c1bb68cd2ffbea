import { existsSync } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { StreamCopies } from '../../../runtime/bus/nats-copies.js'
import { BadBackup } from './manifest.js'

/** Encryption adds 16 bytes to each 64 KiB, and a file has a header: one byte of this many is more than both of a large file. */
const SEALED_MORE = 1_000
const MIB = 2 ** 20

/**
 * What a backup of parts of these sizes takes on its disk at most, in bytes: each once, encrypted, and the largest once more, which lies
 * there as a plain copy. The server packs what it copies, so that a stream mostly takes less.
 */
export function bytesTaken(sizes: readonly number[]): number {
  const sum = sizes.reduce((all, size) => all + size, 0)
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0)
  return sum + largest + Math.ceil(sum / SEALED_MORE)
}

/** Throws BadBackup where a backup of parts of these sizes may not fit into the directory: it would fill the disk, also of the venue. */
export async function assertRoom(
  dir: string,
  sizes: readonly number[],
  freeIn: (dir: string) => Promise<number> = freeBytes,
): Promise<void> {
  const [taken, free] = [bytesTaken(sizes), await freeIn(dir)]
  if (taken <= free) return
  throw new BadBackup(
    `the backup may take ${Math.ceil(taken / MIB)} MiB, and its disk has ${Math.floor(free / MIB)} MiB free: name a directory on another one`,
  )
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize
}

/** A database with what its log holds beyond it. */
export async function databaseBytes(file: string): Promise<number> {
  const [main, log] = await Promise.all([file, `${file}-wal`].map(bytesOf))
  return (main ?? 0) + (log ?? 0)
}

/** What the messages of streams take on the server's disk. */
export async function streamBytes(
  copies: Pick<StreamCopies, 'facts'>,
  names: readonly string[],
): Promise<readonly number[]> {
  const sizes: number[] = []
  for (const name of names) {
    const { bytes } = (await copies.facts(name)).state
    sizes.push(typeof bytes === 'number' ? bytes : 0)
  }
  return sizes
}

/** The files of a directory and of those in it; none where it is not there. */
export async function treeBytes(dir: string | undefined): Promise<readonly number[]> {
  if (dir === undefined || !existsSync(dir)) return []
  const found = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile())
  return Promise.all(files.map(({ parentPath, name }) => bytesOf(join(parentPath, name))))
}

/** 0 for a file that is gone meanwhile. */
async function bytesOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
