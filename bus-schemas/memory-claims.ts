import { AppendUnknown, BusMisconfigured, type ClaimsSpec } from './bus.js'

/** What has been claimed, by bucket. */
export type MemoryClaims = Map<string, Bucket>

interface Bucket {
  readonly keepMs: number
  /** When each key was claimed, oldest first. */
  readonly claimedAtMs: Map<string, number>
}

/** Creates the bucket when absent. Throws BusMisconfigured. */
export function declareIn(claims: MemoryClaims, { bucket, keepMs }: ClaimsSpec): void {
  const existing = claims.get(bucket)
  if (existing !== undefined && existing.keepMs !== keepMs) {
    throw new BusMisconfigured(`${bucket} keeps claims for ${existing.keepMs} ms`)
  }
  if (existing === undefined) claims.set(bucket, { keepMs, claimedAtMs: new Map() })
}

/** Whether the key was free. Throws AppendUnknown for a bucket that nobody declared. */
export function claimIn(
  claims: MemoryClaims,
  { bucket, key, nowMs }: { readonly bucket: string; readonly key: string; readonly nowMs: number },
): boolean {
  const found = claims.get(bucket)
  if (found === undefined) throw new AppendUnknown(`no bucket ${bucket} listens`)
  const { keepMs, claimedAtMs } = found
  for (const [known, atMs] of claimedAtMs) {
    if (nowMs - atMs < keepMs) break
    claimedAtMs.delete(known)
  }
  if (claimedAtMs.has(key)) return false
  claimedAtMs.set(key, nowMs)
  return true
}
