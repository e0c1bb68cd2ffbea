import { expect } from 'chai'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyStreamWhole, throughPlainCopy } from '../../../actors/operator/backup/plain-copy.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { tempDir } from '../../support/temp-dir.js'

const stateFrom = (first: number) => ({ messages: 10, first_seq: first, last_seq: 20 })

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text))
}

/** A stream that begins at these messages: as the server states with each copy, and after it. */
function streamThatBeginsAt(...firsts: readonly (readonly [stated: number, after: number])[]) {
  let copied = 0
  return {
    copied: () => copied,
    copy: () => {
      copied += 1
      const state = stateFrom(firsts[copied - 1]?.[0] ?? 0)
      return Promise.resolve({ config: {}, state, chunks: bytesOf(`copy ${copied}`) })
    },
    facts: () => Promise.resolve({ config: {}, state: stateFrom(firsts[copied - 1]?.[1] ?? 0) }),
  }
}

describe('what a backup has on disk before it is encrypted', () => {
  const dir = tempDir()
  after(() => dir.remove())
  const place = () => join(dir.path, 'S.copy')

  it('is a copy of a stream that was not trimmed meanwhile, which its owner alone may read', async () => {
    const copies = streamThatBeginsAt([1, 5], [5, 5])
    const { state } = await copyStreamWhole(copies, 'FEED_A', place())
    expect(state.first_seq).to.equal(5)
    expect(readFileSync(place(), 'utf8')).to.equal('copy 2')
    expect(statSync(place()).mode & 0o777).to.equal(0o600)
  })

  it('is taken at once of a stream that was empty before, and of claims, which expire', async () => {
    const fresh = streamThatBeginsAt([0, 1])
    await copyStreamWhole(fresh, 'FEED_A', place())
    const claims = streamThatBeginsAt([1, 9])
    await copyStreamWhole(claims, 'KV_nonces', place())
    expect([fresh.copied(), claims.copied()]).to.deep.equal([1, 1])
  })

  it('is given up when a stream is trimmed during each of three copies', async () => {
    const copies = streamThatBeginsAt([1, 2], [2, 3], [3, 4])
    const failed = await copyStreamWhole(copies, 'FEED_A', place()).catch((error: Error) => error)
    expect(failed).to.be.instanceOf(BusUnavailable)
    expect(copies.copied()).to.equal(3)
  })

  it('is removed once it is sealed, and when writing or sealing it fails', async () => {
    const broken = () => Promise.reject(new Error('no space left on device'))
    const write = (file: string) => writeFile(file, 'plain')
    let sealed = ''
    const seal = async (_: unknown, content: AsyncIterable<Uint8Array>) => {
      expect(existsSync(place())).to.equal(true)
      for await (const chunk of content) sealed += Buffer.from(chunk).toString()
    }
    await throughPlainCopy(place(), { write, seal })
    expect(sealed).to.equal('plain')
    const half = async (file: string) => {
      await write(file)
      return broken()
    }
    for (const use of [
      { write, seal: broken },
      { write: half, seal },
    ]) {
      const failed = await throughPlainCopy(place(), use).catch((error: Error) => error.message)
      expect(failed).to.equal('no space left on device')
      expect(await readdir(dir.path)).to.deep.equal([])
    }
  })
})
