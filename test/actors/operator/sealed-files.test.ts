import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadBackup, type BackupPart } from '../../../actors/operator/backup/manifest.js'
import {
  openedFile,
  openOpener,
  openSealer,
  sealFile,
} from '../../../actors/operator/backup/sealed-files.js'
import { withoutSecrets } from '../../../actors/operator/backup/take-backup.js'
import { tempDir } from '../../support/temp-dir.js'

describe('the files of a backup', () => {
  let dir: ReturnType<typeof tempDir>
  beforeEach(() => (dir = tempDir()))
  afterEach(() => dir.remove())
  const at = (name: string) => join(dir.path, name)
  const content = Buffer.from('orders '.repeat(50_000))

  async function* chunks() {
    for (let i = 0; i < content.length; i += 30_000)
      yield await Promise.resolve(content.subarray(i, i + 30_000))
  }

  async function sealed(key: Parameters<typeof openSealer>[0]): Promise<BackupPart> {
    const sealer = await openSealer({ ...key, passphraseWork: 10 })
    if (sealer.keyFile !== undefined) writeFileSync(at('key.age'), sealer.keyFile)
    const facts = await sealFile(sealer, at('a.age'), chunks())
    return { kind: 'file', name: 'a', file: 'a.age', ...facts, captured_at: '' }
  }
  async function opened(key: Parameters<typeof openOpener>[0], part: BackupPart) {
    const read: Uint8Array[] = []
    for await (const chunk of openedFile(await openOpener(key, dir.path), dir.path, part))
      read.push(chunk)
    return Buffer.concat(read)
  }
  const errorOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error as Error)

  it('are opened by each of their keys and by no other, or by their passphrase', async () => {
    const identities = await Promise.all([1, 2, 3].map(() => generateIdentity()))
    const keyFiles = identities.map((identity, i) => {
      writeFileSync(at(`key${i}`), `# made for a test\n${identity}\n`)
      return at(`key${i}`)
    })
    const recipients = await Promise.all(identities.slice(0, 2).map(identityToRecipient))
    const part = await sealed({ recipients })
    expect(readFileSync(at('a.age')).includes('orders orders')).to.equal(false)
    for (const identityFile of keyFiles.slice(0, 2))
      expect(content.equals(await opened({ identityFile }, part))).to.equal(true)
    expect(await errorOf(opened({ identityFile: keyFiles[2] ?? '' }, part))).to.be.instanceOf(
      BadBackup,
    )
  })

  it('are opened by their passphrase', async () => {
    writeFileSync(at('pass'), 'correct horse\n')
    const part = await sealed({ passphraseFile: at('pass') })
    expect(content.equals(await opened({ passphraseFile: at('pass') }, part))).to.equal(true)
    writeFileSync(at('pass'), 'wrong horse\n')
    expect(await errorOf(opened({ passphraseFile: at('pass') }, part))).to.be.instanceOf(BadBackup)
  })

  it('are refused when a byte, the end or the manifest is another', async () => {
    const identity = await generateIdentity()
    writeFileSync(at('key'), identity)
    const part = await sealed({ recipients: [await identityToRecipient(identity)] })
    const bytes = readFileSync(at('a.age'))
    const flipped = Buffer.from(bytes)
    flipped[70_000] = (flipped[70_000] ?? 0) ^ 1
    for (const damaged of [flipped, bytes.subarray(0, -70_000)]) {
      writeFileSync(at('a.age'), damaged)
      expect(await errorOf(opened({ identityFile: at('key') }, part))).to.be.instanceOf(BadBackup)
    }
    writeFileSync(at('a.age'), bytes)
    const other = { ...part, sha256: '0'.repeat(64) }
    expect(await errorOf(opened({ identityFile: at('key') }, other))).to.be.instanceOf(BadBackup)
  })

  it('are never made without a key, and a bad key is named', async () => {
    expect(await errorOf(openSealer({}))).to.be.instanceOf(BadBackup)
    expect(((await errorOf(openSealer({ recipients: ['age1no'] }))) as Error).message).to.equal(
      'age1no is not a public key of age (age1…)',
    )
    expect(await errorOf(openOpener({ identityFile: at('absent') }, dir.path))).to.be.instanceOf(
      BadBackup,
    )
  })

  it('hold of a deployment file what is not a key', () => {
    const key = `0x${'ab'.repeat(32)}`
    const address = `0x${'ab'.repeat(20)}`
    expect(
      withoutSecrets({
        matching: address,
        chain_id: 8453,
        odd: key,
        private_key: 'x',
        accounts: [{ address }],
        nested: { list: [key, address], seed: 'words' },
      }),
    ).to.deep.equal({ matching: address, chain_id: 8453, nested: { list: [address] } })
  })
})
