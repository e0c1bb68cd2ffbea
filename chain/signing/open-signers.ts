import { existsSync, statSync } from 'node:fs'
import { openKeyFile, retiringFileOf, type KeySource } from './key-file.js'
import { createTransactionSigner, requireNativeCurve, type TransactionSigner } from './keys.js'

/** The keys of a process that sends transactions. */
export interface Signers {
  /** Signs everything new. */
  readonly current: TransactionSigner
  /** Signed before the last rotation; absent once its file is gone. */
  readonly retiring?: TransactionSigner
}

export interface KeyEvents {
  readonly onWarning: (message: string) => void
  /** Another file stands where the key file was: the next start opens the new key, and next to it the old one. */
  readonly onChange: () => void
}

/** A process warns in its log, and stops for its supervisor to start it with the new key. */
export const keyEvents = (
  log: { readonly warn: (message: string) => void },
  end: (reason: string) => void,
): KeyEvents => ({
  onWarning: (message) => log.warn(message),
  onChange: () => end('the key file changed'),
})

/**
 * The one place that opens the keys of executor and submitters. Warns of a key from the environment, where what it signs
 * has value. Throws CannotStart and SignerUnavailable.
 */
export function openSigners(
  source: KeySource,
  chainId: number,
  { onWarning, onChange }: KeyEvents,
): Signers {
  requireNativeCurve()
  if ('privateKey' in source) {
    if (!source.isWorthless)
      onWarning('the key comes from the environment: keep it in a file, or in an external signer')
    return { current: createTransactionSigner(source.privateKey, chainId) }
  }
  watchFile(source.file, onChange)
  const current = openKeyFile(source.file, chainId)
  const beside = retiringFileOf(source.file)
  if (!existsSync(beside)) return { current }
  const retiring = openKeyFile(beside, chainId)
  // Between the two steps of a rotation both files hold the old key.
  return retiring.address === current.address ? { current } : { current, retiring }
}

const LOOK_EVERY_MS = 1_000

/** Calls `onChange` once; the process ends with it, so that the watch has no end of its own. */
function watchFile(path: string, onChange: () => void): void {
  const first = versionOf(path)
  const timer = setInterval(() => {
    const now = versionOf(path)
    if (now === undefined || now === first) return
    clearInterval(timer)
    onChange()
  }, LOOK_EVERY_MS)
  timer.unref()
}

/** Undefined while there is no such file. */
function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}:${stat.mtimeMs}:${stat.size}`
}
