import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { eventually } from '../../support/eventually.js'
import type { NoDisk } from './small-disk.js'

/** A file system in a file, which an error of the disk turns read-only, as ext4 does by default. */
export interface FailingDisk {
  readonly path: string
  /** What is there lasts, as files of an operator do that were written long before. */
  sync(): void
  /** From now on nothing can be written, not by files that are open either. */
  fail(): void
  /** What an operator does: unmounts it, repairs it and mounts it again. Nothing may have a file of it open. */
  repair(): Promise<void>
  remove(): Promise<void>
}

/** Mounts one, for which most systems ask for root. */
export function mountFailingDisk(bytes: number): FailingDisk | NoDisk {
  const dir = mkdtempSync(join(tmpdir(), 'venue-disk-'))
  const image = join(dir, 'image')
  const path = join(dir, 'disk')
  const run = (command: string, ...words: readonly string[]) =>
    execFileSync(command, words, { stdio: 'pipe', encoding: 'utf8' })
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, path)
  try {
    mkdirSync(path)
    writeFileSync(image, '')
    truncateSync(image, bytes)
    run('mkfs.ext4', '-q', '-F', image)
    mount()
  } catch (error) {
    rmSync(dir, { recursive: true })
    return { why: `an ext4 file system cannot be mounted here: ${String(error)}` }
  }
  const unmount = () => eventually(() => void run('umount', path))
  return {
    path,
    sync: () => void run('sync', '-f', path),
    fail() {
      const device = basename(run('findmnt', '-n', '-o', 'SOURCE', path).trim())
      writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'by a test')
    },
    async repair() {
      await unmount()
      try {
        run('e2fsck', '-p', image)
      } catch (error) {
        // 1: errors were found and corrected.
        if ((error as { readonly status?: number }).status !== 1) throw error
      }
      mount()
    },
    async remove() {
      await unmount()
      rmSync(dir, { recursive: true })
    },
  }
}
