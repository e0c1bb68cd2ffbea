import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KeyFileRefused, readKeyFile } from '../../mcp/key-file.js'
import { BadUsage, readOptions } from '../../mcp/options.js'
import { testPrivateKey } from '../support/builders.js'
import { addressOf } from '../support/cancel-proofs.js'

const VENUE = ['--venue', 'http://127.0.0.1:8080']
const KEY = ['--key-file', 'key']

describe('the command line of venue-mcp', () => {
  it('reads alone by default', () => {
    expect(readOptions(VENUE)).to.deep.equal({ venueUrl: 'http://127.0.0.1:8080' })
  })

  it('bounds all orders by ten times the bound of one, or as it says', () => {
    const trade = [...VENUE, ...KEY, '--trade', '--max-notional', '2.5']
    expect(readOptions(trade).bounds).to.deep.equal({
      largestE18: 25n * 10n ** 17n,
      totalE18: 25n * 10n ** 18n,
    })
    expect(readOptions([...trade, '--max-total', '3']).bounds?.totalE18).to.equal(3n * 10n ** 18n)
  })

  const refused: readonly (readonly string[])[] = [
    [],
    ['--venue', 'ws://127.0.0.1'],
    ['--venue', 'venue'],
    [...VENUE, '--trade', '--max-notional', '1'],
    [...VENUE, ...KEY, '--trade'],
    [...VENUE, ...KEY, '--max-notional', '1'],
    [...VENUE, ...KEY, '--max-total', '1'],
    [...VENUE, ...KEY, '--trade', '--max-notional', '0'],
    [...VENUE, ...KEY, '--trade', '--max-notional=-1'],
    [...VENUE, ...KEY, '--trade', '--max-notional', '1e9'],
    [...VENUE, '--owner', `0x${'11'.repeat(20)}`],
    [...VENUE, ...KEY, '--owner', '0x11'],
    [...VENUE, '--yes'],
    [...VENUE, 'more'],
  ]
  for (const args of refused) {
    it(`does not take ${args.join(' ') || 'nothing'}`, () => {
      expect(() => readOptions(args)).to.throw(BadUsage)
    })
  }
})

describe('the key file of venue-mcp', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'mcp-key-'))))
  after(() => rmSync(folder, { recursive: true }))

  const fileWith = (text: string, mode = 0o600): string => {
    const path = join(folder, 'key')
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  it('gives its account when its user alone may read it', () => {
    for (const mode of [0o600, 0o400]) {
      const { address } = readKeyFile(fileWith(`${testPrivateKey}\n`, mode))
      expect(address.toLowerCase()).to.equal(addressOf(testPrivateKey))
      rmSync(join(folder, 'key'))
    }
  })

  it('is refused with any right of group or others, and named with the cure', () => {
    for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644]) {
      const path = fileWith(testPrivateKey, mode)
      const message = `${path} has mode ${mode.toString(8)}: chmod 600 ${path}`
      expect(() => readKeyFile(path), mode.toString(8)).to.throw(KeyFileRefused, message)
    }
  })

  it('is refused without a key, and what it holds is not shown', () => {
    const words = ['', 'secret words', testPrivateKey.slice(2), `${testPrivateKey}00`, '0xzz']
    for (const text of [...words, `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`]) {
      const path = fileWith(text)
      const read = () => readKeyFile(path)
      expect(read, text).to.throw(KeyFileRefused, path)
      if (text === '') continue
      expect(read, text).to.throw().property('message').not.include(text)
    }
  })

  it('is refused where it is no regular file, or is not there', () => {
    const path = join(folder, 'directory')
    mkdirSync(path, { mode: 0o700 })
    expect(() => readKeyFile(path)).to.throw(KeyFileRefused, 'no regular file')
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    expect(() => readKeyFile(pipe)).to.throw(KeyFileRefused, 'no regular file')
    expect(() => readKeyFile(join(folder, 'none'))).to.throw(KeyFileRefused, 'ENOENT')
  })
})
