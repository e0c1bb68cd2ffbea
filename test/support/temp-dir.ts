import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A fresh directory and how to remove it with all that is in it. */
export function tempDir(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'venue-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
