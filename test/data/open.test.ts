import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { InvariantBroken } from '../../core/assert.js'
import type { OpenOptions } from '../../data/open.js'
import {
  DamagedDatabase,
  UnknownSchemaVersion,
  fileIdentity,
  isNotedDamaged,
  noteDamage,
  openDatabase,
} from '../../data/open.js'
import { tempDir } from '../support/temp-dir.js'

describe('opening a database', () => {
  let dir: ReturnType<typeof tempDir>
  let options: OpenOptions

  beforeEach(() => {
    dir = tempDir()
    const folder = join(dir.path, 'migrations')
    mkdirSync(folder)
    options = {
      path: join(dir.path, 'a.db'),
      migrations: pathToFileURL(folder),
      synchronous: 'FULL',
    }
    migration('001-first.sql', 'CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);')
  })
  afterEach(() => dir.remove())

  const migration = (name: string, sql: string) =>
    writeFileSync(join(dir.path, 'migrations', name), sql)
  const withDatabase = <T>(
    overrides: Partial<OpenOptions>,
    use: (db: ReturnType<typeof openDatabase>) => T,
  ) => {
    const db = openDatabase({ ...options, ...overrides })
    try {
      return use(db)
    } finally {
      db.close()
    }
  }
  const rowsOf = (overrides: Partial<OpenOptions> = {}) =>
    withDatabase(overrides, (db) => db.prepare('SELECT x FROM a').pluck().all())

  for (const [synchronous, code] of [
    ['FULL', 2n],
    ['NORMAL', 1n],
  ] as const) {
    it(`has the settings that it promises, synchronous=${synchronous}`, () =>
      withDatabase({ synchronous }, (db) => {
        expect(db.pragma('synchronous', { simple: true })).to.equal(code)
        expect(db.pragma('journal_mode', { simple: true })).to.equal('wal')
        expect(db.pragma('foreign_keys', { simple: true })).to.equal(1n)
        expect(db.prepare('SELECT 9007199254740993').pluck().get()).to.equal(9007199254740993n)
      }))
  }

  it('makes a file with pages of the size asked for, and leaves one that is there as it is', () => {
    const pageBytes = (overrides: Partial<OpenOptions>) =>
      withDatabase(overrides, (db) => db.pragma('page_size', { simple: true }))
    expect(pageBytes({ pageBytes: 8_192 })).to.equal(8_192n)
    expect(pageBytes({ pageBytes: 16_384 })).to.equal(8_192n)
    expect(pageBytes({})).to.equal(8_192n)
    expect(rowsOf()).to.deep.equal([1n])
  })

  it('moves the write-ahead log into the file at as many pages as asked for', () =>
    withDatabase({ checkpointPages: 1_234 }, (db) => {
      expect(db.pragma('wal_autocheckpoint', { simple: true })).to.equal(1_234n)
    }))

  it('applies each migration once, in order', () => {
    expect(rowsOf()).to.deep.equal([1n])
    migration('002-second.sql', 'INSERT INTO a VALUES (2);')
    expect(rowsOf()).to.deep.equal([1n, 2n])
    expect(rowsOf()).to.deep.equal([1n, 2n])
  })

  it('leaves nothing of a migration that fails, and applies it when it is mended', () => {
    rowsOf()
    migration('002-second.sql', 'INSERT INTO a VALUES (2); INSERT INTO none VALUES (1);')
    expect(() => rowsOf()).to.throw(/no such table/)
    migration('002-second.sql', 'INSERT INTO a VALUES (3);')
    expect(rowsOf()).to.deep.equal([1n, 3n])
  })

  it('refuses migrations that are not numbered without gaps', () => {
    migration('003-third.sql', 'SELECT 1;')
    expect(() => rowsOf()).to.throw(InvariantBroken, '003-third.sql')
  })

  it('refuses a file that a newer release made', () => {
    migration('002-second.sql', 'INSERT INTO a VALUES (2);')
    rowsOf()
    rmSync(join(dir.path, 'migrations', '002-second.sql'))
    expect(() => rowsOf()).to.throw(
      UnknownSchemaVersion,
      /a\.db has schema version 2, this build knows version 1: run the release that wrote it, or a newer one/,
    )
  })

  it('refuses a file of a release whose data are not read any more, and leaves it as it is', () => {
    rowsOf()
    rmSync(join(dir.path, 'migrations', '001-first.sql'))
    migration('002-fresh.sql', 'CREATE TABLE b (x INTEGER) STRICT;')
    for (const readonly of [false, true]) {
      expect(() => rowsOf({ readonly })).to.throw(
        UnknownSchemaVersion,
        /a\.db has schema version 1, this build knows version 2: it was written before release 0\.3\.0/,
      )
    }
    rmSync(options.path)
    withDatabase({}, (db) => {
      expect(db.pragma('user_version', { simple: true })).to.equal(2n)
      expect(db.prepare('SELECT count(*) FROM b').pluck().get()).to.equal(0n)
    })
  })

  for (const [what, spoil] of [
    ['is no database', (file: Buffer) => file.fill(7, 0, 100)],
    ['has a schema that does not fit', (file: Buffer) => file.fill(0xff, 100, 4_096)],
  ] as const) {
    it(`ends the start with the file and the cure where the file ${what}`, () => {
      rowsOf()
      writeFileSync(options.path, spoil(readFileSync(options.path)))
      expect(() => rowsOf())
        .to.throw(DamagedDatabase, options.path)
        .with.property('message')
        .match(/is damaged, .+: move it away with -wal and -shm, then restore or rebuild it/)
      expect(() => rowsOf({ readonly: true })).to.throw(DamagedDatabase)
      expect(existsSync(`${options.path}.damaged`)).to.equal(false)
    })

    it(`sets a file aside that is made again, and begins a new one, where it ${what}`, () => {
      rowsOf()
      const spoilt = spoil(readFileSync(options.path))
      writeFileSync(options.path, spoilt)
      const told: string[] = []
      expect(rowsOf({ onSetAside: (line) => told.push(line) })).to.have.length(1)
      expect(told).to.have.length(1)
      expect(told[0]).to.include(`it is ${options.path}.damaged now`)
      expect(readFileSync(`${options.path}.damaged`).equals(spoilt)).to.equal(true)
      expect(rowsOf()).to.have.length(1)
    })
  }

  it('sets a file aside at the next start that was found damaged while it was in use, once', () => {
    rowsOf()
    noteDamage(options.path)
    expect(isNotedDamaged(options.path)).to.equal(true)
    const told: string[] = []
    const onSetAside = (line: string) => told.push(line)
    expect(rowsOf({ onSetAside })).to.have.length(1)
    expect(rowsOf({ onSetAside })).to.have.length(1)
    expect(told).to.have.length(1)
    expect(existsSync(`${options.path}.damaged`)).to.equal(true)
    expect(isNotedDamaged(options.path)).to.equal(false)
  })

  it('leaves a file alone that was made anew after a reader had opened the damaged one', () => {
    rowsOf()
    const opened = fileIdentity(options.path)
    noteDamage(options.path)
    const told: string[] = []
    const onSetAside = (line: string) => told.push(line)
    expect(rowsOf({ onSetAside })).to.have.length(1)
    noteDamage(options.path, opened)
    expect(isNotedDamaged(options.path)).to.equal(false)
    expect(rowsOf({ onSetAside })).to.have.length(1)
    expect(told).to.have.length(1)
    noteDamage(options.path, fileIdentity(options.path))
    expect(isNotedDamaged(options.path)).to.equal(true)
  })

  it('ends the start where a damaged file cannot be set aside', () => {
    rowsOf()
    writeFileSync(
      options.path,
      'not a database, and long enough to be looked at by SQLite'.repeat(40),
    )
    mkdirSync(join(`${options.path}.damaged`, 'full'), { recursive: true })
    expect(() => rowsOf({ onSetAside: () => undefined })).to.throw(DamagedDatabase, options.path)
  })

  it('read-only: needs the file, at exactly this version, and writes nothing', () => {
    expect(() => rowsOf({ readonly: true })).to.throw()
    expect(rowsOf()).to.deep.equal([1n])
    expect(rowsOf({ readonly: true })).to.deep.equal([1n])
    withDatabase({ readonly: true }, (db) =>
      expect(() => db.exec('DELETE FROM a')).to.throw(/readonly/),
    )
    migration('002-second.sql', 'INSERT INTO a VALUES (2);')
    expect(() => rowsOf({ readonly: true })).to.throw(
      UnknownSchemaVersion,
      'start the process that writes it first',
    )
  })
})
