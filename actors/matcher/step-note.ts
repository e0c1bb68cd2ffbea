import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

/**
 * Whose step was running when a process ended. A process that is killed or exhausts its heap leaves nothing behind, so the market is
 * noted before. The note is in the page cache: it outlives the process, not the machine.
 */

/** Longer than the name of any market. */
const NOTE_BYTES = 256
const NONE = Buffer.alloc(NOTE_BYTES)

/** Of a process that runs several markets. */
export interface StepNote {
  /** The function that is to be called before each step of the market. */
  of(market: string): () => void
}

/** Writes notes to an open file. A note is taken out at the end of the turn of the event loop. */
export function createStepNote(fd: number): StepNote {
  const write = (note: Buffer): void => void writeSync(fd, note, 0, NOTE_BYTES, 0)
  let noted = NONE
  const takeOut = (): void => {
    noted = NONE
    write(noted)
  }
  return {
    of(market) {
      const own = Buffer.alloc(NOTE_BYTES)
      own.write(market)
      return () => {
        if (noted === own) return
        if (noted === NONE) setImmediate(takeOut)
        noted = own
        write(noted)
      }
    },
  }
}

/** The file of the notes, of the process that watches. */
export interface StepNoteFile {
  /** To be inherited by the process that is watched. */
  readonly fd: number
  /** The market that is noted, which is then taken out; undefined for none. */
  take(): string | undefined
  close(): void
}

/**
 * Makes a file without a name, so that none is left behind, with the room for a note, so that a disk that is full later refuses none.
 * Throws what the file system refuses with.
 */
export function createStepNoteFile(dir: string): StepNoteFile {
  const path = join(dir, `step-note-${randomUUID()}`)
  const fd = openSync(path, 'wx+', 0o600)
  rmSync(path)
  const clear = (): void => void writeSync(fd, NONE, 0, NOTE_BYTES, 0)
  clear()
  return {
    fd,
    take() {
      const note = Buffer.alloc(NOTE_BYTES)
      readSync(fd, note, 0, NOTE_BYTES, 0)
      clear()
      const end = note.indexOf(0)
      return end === 0 ? undefined : note.toString('utf8', 0, end)
    },
    close: () => closeSync(fd),
  }
}

/** A market that ends its process so often within that time gets one of its own. */
const ENDS = 2
const WITHIN_MS = 600_000

/** Counts the ends of a process by market. `nowMs`: monotonic milliseconds. */
export function countEnds(nowMs: () => number): (market: string) => boolean {
  const ends = new Map<string, readonly number[]>()
  /** Notes an end under a step of the market; true when it is one too many. */
  return (market) => {
    const atMs = nowMs()
    const recent = (ends.get(market) ?? []).filter((each) => atMs - each <= WITHIN_MS)
    ends.set(market, [...recent, atMs].slice(-ENDS))
    return recent.length + 1 >= ENDS
  }
}
