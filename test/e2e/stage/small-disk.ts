import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PIECE_BYTES = 1024 * 1024
const SMALLEST_PIECE_BYTES = 4096

/** A file system of its own in memory. */
export interface SmallDisk {
  readonly path: string
  freeBytes(): Promise<number>
  /** Leaves about so many bytes free, by a file that takes the rest. */
  fillTo(freeBytes: number): Promise<void>
  /** Removes that file. */
  giveBack(): Promise<void>
  remove(): void
}

/** Why there is none where file systems cannot be mounted. */
export interface NoDisk {
  readonly why: string
}

/** Mounts a tmpfs, for which most systems ask for root. */
export function mountSmallDisk(bytes: number): SmallDisk | NoDisk {
  const path = mkdtempSync(join(tmpdir(), 'venue-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    return { why: `a tmpfs cannot be mounted here: ${String(error)}` }
  }
  const ballast = join(path, 'ballast')
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  }
  return {
    path,
    freeBytes,
    async fillTo(least) {
      const file = await open(ballast, 'a')
      try {
        for (let piece = PIECE_BYTES; piece >= SMALLEST_PIECE_BYTES;) {
          const room = (await freeBytes()) - least
          if (room < piece) piece /= 2
          else await file.write(Buffer.alloc(piece))
        }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        await file.close()
      }
    },
    giveBack: () => rm(ballast, { force: true }),
    remove() {
      execFileSync('umount', ['-l', path])
      rmdirSync(path)
    },
  }
}
