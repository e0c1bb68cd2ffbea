import { expect } from 'chai'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSecretPaths } from '../../../runtime/process/config.js'
import { readSecretFiles } from '../../../runtime/process/secret-files.js'
import { tempDir } from '../../support/temp-dir.js'

describe('the files with secrets of a process', () => {
  const dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  const make = (name: string, mode: number) => {
    writeFileSync(at(name), '')
    chmodSync(at(name), mode)
  }
  after(() => dir.remove())

  it('are those of its settings, a key that retires and each seed of a directory among them', () => {
    mkdirSync(at('bus'))
    make('key', 0o600)
    make('key.retiring', 0o640)
    make('secret', 0o604)
    make('bus/matcher.nk', 0o600)
    make('bus/gateway.nk', 0o620)
    make('bus/ca.pem', 0o644)
    const env = {
      EXECUTOR_KEY_FILE: at('key'),
      KEEPER_KEY_FILE: at('key'),
      EXECUTOR_SECRET_FILE: at('secret'),
      DEPOSIT_SUBMITTER_KEY_FILE: at('missing'),
      NATS_CREDENTIALS: at('bus'),
      NATS_CERT_FILE: at('bus/ca.pem'),
      NATS_KEY_FILE: '',
    }
    expect(readSecretFiles(readSecretPaths(env))).to.deep.equal([
      { path: at('bus/gateway.nk'), isExposed: true },
      { path: at('bus/matcher.nk'), isExposed: false },
      { path: at('key'), isExposed: false },
      { path: at('key.retiring'), isExposed: true },
      { path: at('secret'), isExposed: true },
    ])
    expect(readSecretFiles([at('bus/matcher.nk')])).to.deep.equal([
      { path: at('bus/matcher.nk'), isExposed: false },
    ])
  })

  it('are named by every setting of .env.example that names one', () => {
    const example = readFileSync(new URL('../../../../.env.example', import.meta.url), 'utf8')
    const named = [...example.matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name = '']) => name)
    const secret = named.filter((name) => /KEY|SECRET|CREDENTIALS/.test(name))
    const seen = secret.filter((name) => readSecretPaths({ [name]: 'any' }).length === 1)
    const inFiles = secret.filter((name) => /FILE|CREDENTIALS/.test(name))
    expect(seen).to.deep.equal(inFiles).and.to.have.length.above(6)
  })
})
