import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  BACKUP_FORMAT,
  BadBackup,
  writeManifest,
  type BackupPart,
  type Manifest,
} from '../../../actors/operator/backup/manifest.js'
import {
  finish,
  putBack,
  UNFINISHED,
  type BackupRestoreOptions,
} from '../../../actors/operator/backup/restore-backup.js'
import { openOpener, openSealer, sealFile } from '../../../actors/operator/backup/sealed-files.js'
import { commandsStream, feedStream, registerStream } from '../../../bus-schemas/subjects.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import { tempDir } from '../../support/temp-dir.js'

const AT = '2026-11-27T10:00:00.000Z'
const CHAIN = { id: 31_337, block: 7, block_hash: '0xb7' }
const state = { messages: 1, first_seq: 1, last_seq: 1 }

describe('what a restore puts back', () => {
  let dir: ReturnType<typeof tempDir>
  let options: BackupRestoreOptions
  let restored: string[]
  beforeEach(async () => {
    dir = tempDir()
    restored = []
    const identity = await generateIdentity()
    writeFileSync(join(dir.path, 'key'), identity)
    const sealer = await openSealer({ recipients: [await identityToRecipient(identity)] })
    const parts: BackupPart[] = []
    async function add(kind: BackupPart['kind'], name: string): Promise<void> {
      const file = `${name}.age`
      const facts = await sealFile(sealer, join(dir.path, file), contentOf(name))
      const stream = kind === 'stream' ? { config: {}, state } : undefined
      parts.push({ kind, name, file, ...facts, captured_at: AT, stream })
    }
    // As a backup captures them: logs first.
    for (const name of [commandsStream('A'), feedStream('A'), registerStream])
      await add('stream', name)
    await add('database', 'executor.db')
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      venue_version: '0.0.0',
      started_at: AT,
      covers_until: AT,
      ended_at: AT,
      chain: CHAIN,
      parts,
    }
    await writeManifest(dir.path, manifest)
    options = {
      dir: dir.path,
      dataDir: join(dir.path, 'data'),
      copies: {
        names: () => Promise.resolve([]),
        restore: (name, _, chunks) => restoredAs(name, chunks),
      },
      client: chainWith({}),
      opener: await openOpener({ identityFile: join(dir.path, 'key') }, dir.path),
      nowMs: () => 0,
    }
  })
  afterEach(() => dir.remove())

  async function* contentOf(name: string): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from(`the content of ${name}`))
  }
  async function restoredAs(name: string, chunks: AsyncIterable<Uint8Array>) {
    let text = ''
    for await (const chunk of chunks) text += Buffer.from(chunk).toString()
    expect(text).to.equal(`the content of ${name}`)
    restored.push(name)
    return { config: {}, state }
  }
  const chainWith = ({ id = CHAIN.id, hash = CHAIN.block_hash }) =>
    ({
      getChainId: () => Promise.resolve(id),
      getBlock: () => Promise.resolve({ hash }),
    }) as unknown as ChainClient
  const refusalOf = async (more: Partial<BackupRestoreOptions>): Promise<string> => {
    const error = await putBack({ ...options, ...more }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(BadBackup)
    expect(restored).to.deep.equal([])
    return (error as BadBackup).message
  }

  it('is files first, then the register, and the logs last, without which no market is opened', async () => {
    await putBack(options)
    expect(restored).to.deep.equal([registerStream, feedStream('A'), commandsStream('A')])
    const database = join(options.dataDir, 'executor.db')
    expect(readFileSync(database, 'utf8')).to.equal('the content of executor.db')
  })

  it('is marked as unfinished until it is compared, and another is refused beside it', async () => {
    await putBack(options)
    restored = []
    expect(await refusalOf({})).to.include('broke off: empty it and the bus')
    await finish(options.dataDir)
    expect(existsSync(join(options.dataDir, UNFINISHED))).to.equal(false)
    expect(await refusalOf({})).to.include('has databases already (executor.db)')
  })

  it('is nothing on another chain, or one that has lost the backup’s block, nor on a bus with streams', async () => {
    expect(await refusalOf({ client: chainWith({ id: 1 }) })).to.include('the node is of chain 1')
    const elsewhere = chainWith({ hash: '0xc7' })
    expect(await refusalOf({ client: elsewhere })).to.include('does not have block 7')
    const names = () => Promise.resolve(['FEED_B'])
    const copies = { ...options.copies, names }
    expect(await refusalOf({ copies })).to.include('has streams already (FEED_B)')
    expect(existsSync(options.dataDir)).to.equal(false)
  })

  it('is nothing of a backup of which a part is damaged', async () => {
    const file = join(dir.path, `${feedStream('A')}.age`)
    writeFileSync(file, readFileSync(file).subarray(0, -1))
    expect(await refusalOf({})).to.include('cannot be opened')
    expect(existsSync(options.dataDir)).to.equal(false)
  })
})
