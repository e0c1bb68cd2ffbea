import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openOpener, openedFile } from '../../actors/operator/backup/sealed-files.js'
import { readManifest } from '../../actors/operator/backup/manifest.js'
import { runBackup } from '../../actors/operator/backup/run-backup.js'
import { readBackupConfig } from '../../actors/operator/config.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import type { OrderRecord } from '../../client/index.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { createTrader, type Trader } from './stage/trader.js'

/** What a wiped machine still has: the local chain with its deployment, and the keys, which no backup holds. */
const KEPT = /^(chain|devnet|keys|role|deployment)/
/** Keys of the launcher's roles and of the development accounts. */
const KEY_TEXT = /0x[0-9a-fA-F]{64}/g

describe('backup and restore', function () {
  this.timeout(300_000)
  const dir = tempDir()
  const identityFile = join(dir.path, 'identity.txt')
  let recipient = ''
  before(async () => {
    const identity = await generateIdentity()
    writeFileSync(identityFile, `# test\n${identity}\n`)
    recipient = await identityToRecipient(identity)
  })
  after(() => dir.remove())

  async function run(words: readonly string[], dataDir: string) {
    const env = { ...inheritedEnvironment(), DATA_DIR: dataDir }
    const child = spawn('./venue', words, { cwd: inProject('.'), env })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }

  function wipe(dataDir: string): void {
    for (const name of readdirSync(dataDir))
      if (!KEPT.test(name)) rmSync(join(dataDir, name), { recursive: true })
  }

  const auditOf = ({ dataDir }: TestVenue) =>
    runAudit({ ...inheritedEnvironment(), DATA_DIR: dataDir })

  /** Places pairs that match, and orders that rest, until it is stopped; resolves with what was answered. */
  function load(maker: Trader, taker: Trader) {
    const answered: OrderRecord[] = []
    let stopped = false
    const work = async () => {
      while (!stopped) {
        const terms = { amount: '5', price: '0.00070' }
        answered.push(await maker.place({ side: 'sell', ...terms }))
        answered.push(await taker.place({ side: 'buy', ...terms }))
        answered.push(await maker.place({ side: 'sell', amount: '5', price: '0.00090' }))
      }
    }
    const working = work()
    return {
      answered,
      stop: async () => {
        stopped = true
        await working
        for (const { order_id: id, limit_price: price } of answered)
          if (!price.startsWith('0.0009')) await maker.until(id, 'filled')
      },
    }
  }

  it('continues with nothing lost where the streams prove complete, and holds no key', async () => {
    const venue = await startVenue()
    const { dataDir } = venue
    const traders = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)] as const
    const running = load(...traders)
    await eventually(() => running.answered.length >= 9)
    const backup = join(dir.path, 'complete')
    const before = running.answered.length
    await runBackup(
      await readBackupConfig({ DATA_DIR: dataDir }),
      { dir: backup, key: { recipients: [recipient] } },
      async (kind, name) => {
        // Databases were captured under load. What is sent to the chain after the journals would be a gap.
        if (name === 'intake.db') await eventually(() => running.answered.length >= before + 6)
        if (kind === 'stream' && name.startsWith('CHECKPOINTS_')) await running.stop()
      },
    )
    expect(await venue.stop({ keepData: true })).to.equal(0)

    const secrets = readdirSync(dataDir)
      .filter((name) => name === 'keys.json' || name === 'devnet.json')
      .flatMap((name) => readFileSync(join(dataDir, name), 'utf8').match(KEY_TEXT) ?? [])
    expect(secrets.length).to.be.greaterThan(5)
    await expectWithout(backup, secrets)

    wipe(dataDir)
    const restored = await run(
      ['restore', backup, '--identity', identityFile, '--nothing-since'],
      dataDir,
    )
    expect(restored.code, restored.output).to.equal(0)
    const again = await startVenue({ dataDir })
    try {
      const [maker, taker] = [createTrader(again.devnet, 0), createTrader(again.devnet, 1)]
      for (const { order_id: id, limit_price: price } of running.answered)
        await maker.until(id, price.startsWith('0.0009') ? 'active' : 'filled')
      const terms = { amount: '5', price: '0.00070' }
      await maker.place({ side: 'sell', ...terms })
      const { order_id: id } = await taker.place({ side: 'buy', ...terms })
      await taker.until(id, 'filled')
      const { code, output } = await auditOf(again)
      expect(code, output).to.equal(0)
    } finally {
      await again.stop()
    }
  })

  /** No secret is in any part, as text or as bytes. */
  async function expectWithout(backup: string, secrets: readonly string[]): Promise<void> {
    const opener = await openOpener({ identityFile }, backup)
    const { parts } = await readManifest(backup)
    expect(parts.map(({ name }) => name)).to.include.members([
      ...['history.db', 'intake.db', 'executor.db', 'markets.json', 'restored-deployment.json'],
      ...['COMMANDS_cNGN-USDC', 'FEED_cNGN-USDC', 'TRANSFERS'],
    ])
    for (const part of parts) {
      const chunks: Uint8Array[] = []
      for await (const chunk of openedFile(opener, backup, part)) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      for (const secret of secrets) {
        expect(content.includes(secret.slice(2)), part.name).to.equal(false)
        expect(content.includes(Buffer.from(secret.slice(2), 'hex')), part.name).to.equal(false)
      }
    }
  }
})
