import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath } from '../../data/durable-file.js'

/**
 * Syncs every file below a directory, then the directories from the innermost on, so that contents and names outlive a loss
 * of power. Nothing may write there meanwhile. Resolves with the number of files.
 */
export async function syncTree(dir: string): Promise<number> {
  let files = 0
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) files += await syncTree(path)
    else if (entry.isFile()) {
      await syncPath(path)
      files += 1
    }
  }
  await syncPath(dir)
  return files
}
