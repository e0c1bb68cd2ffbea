import { mkdir, open, rename } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

export interface WriteOptions {
  /** Permissions of the file; 0o644 by default. */
  readonly mode?: number
}

/**
 * Replaces a file atomically: after a crash it holds either the old content or the new, and once this resolves the new
 * content is on disk.
 */
export async function writeFileDurably(
  file: string,
  content: string | Uint8Array,
  { mode = 0o644 }: WriteOptions = {},
): Promise<void> {
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  await syncPath(dirname(file))
}

/** Makes a directory with those above it that are not there; their names are on disk once this resolves. */
export async function makeDirDurably(dir: string): Promise<void> {
  const first = await mkdir(dir, { recursive: true })
  if (first === undefined) return
  const above = dirname(resolve(first))
  for (let at = resolve(dir); at !== above; at = dirname(at)) await syncPath(dirname(at))
}

/** The content of a file, or the names in a directory, are on disk once this resolves. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** `writeFileDurably` of a value as indented JSON. */
export function writeJsonDurably(
  file: string,
  value: unknown,
  options: WriteOptions = {},
): Promise<void> {
  return writeFileDurably(file, `${JSON.stringify(value, null, 2)}\n`, options)
}
