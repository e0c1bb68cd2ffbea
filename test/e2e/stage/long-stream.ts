import { createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, type Manifest } from '../../../actors/operator/backup/manifest.js'
import { copyStreamWhole } from '../../../actors/operator/backup/plain-copy.js'
import { openSealer, sealFile } from '../../../actors/operator/backup/sealed-files.js'
import { sampleTimes } from '../../../actors/operator/backup/stream-times.js'
import type { Bus, BusMessage } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { openStreamCopies } from '../../../runtime/bus/nats-copies.js'
import { startNatsServer } from '../../support/nats-server.js'

export const LONG_STREAM = 'LONG'
const MESSAGE_BYTES = 300
const IN_FLIGHT = 500
const READ_CHUNK = 10_000

type Position = Pick<BusMessage, 'seq' | 'storedAtMs'>

/** Puts a stream of so many messages into a backup, as if the venue had had it; resolves with where they stand in it. */
export async function addLongStream(
  backup: string,
  recipient: string,
  messages: number,
): Promise<readonly Position[]> {
  const server = await startNatsServer({ isUnsynced: true })
  const bus = await connectNatsBus({ url: server.url, name: 'test' })
  const copies = await openStreamCopies({ url: server.url, name: 'test' })
  try {
    await bus.declareStream({ stream: LONG_STREAM, subject: 'long', description: 'long' })
    for (let left = messages; left > 0; left -= IN_FLIGHT)
      await Promise.all(
        Array.from({ length: Math.min(left, IN_FLIGHT) }, (_, i) =>
          bus.append('long', Buffer.alloc(MESSAGE_BYTES, `${left} ${i} `)),
        ),
      )
    const file = `stream-${LONG_STREAM}.age`
    const copy = join(backup, `${LONG_STREAM}.copy`)
    const { config, state } = await copyStreamWhole(copies, LONG_STREAM, copy)
    const sealed = await sealFile(
      await openSealer({ recipients: [recipient] }),
      join(backup, file),
      createReadStream(copy),
    )
    rmSync(copy)
    const times = await sampleTimes(copies, LONG_STREAM, state)
    const path = join(backup, MANIFEST)
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    manifest.parts.push({
      kind: 'stream',
      name: LONG_STREAM,
      file,
      bytes: sealed.bytes,
      sha256: sealed.sha256,
      stored_bytes: sealed.stored_bytes,
      stored_sha256: sealed.stored_sha256,
      captured_at: manifest.ended_at,
      stream: { config, state, times },
    })
    writeFileSync(path, JSON.stringify(manifest))
    return await positionsOf(bus)
  } finally {
    await copies.close()
    await bus.close()
    await server.stop()
  }
}

/** Where every message of the long stream stands, and when it was stored. */
export async function positionsOf(bus: Pick<Bus, 'read'>): Promise<Position[]> {
  const found: Position[] = []
  for (;;) {
    const messages = await bus.read(LONG_STREAM, found.length + 1, READ_CHUNK)
    if (messages.length === 0) return found
    for (const { seq, storedAtMs } of messages) found.push({ seq, storedAtMs })
  }
}
