import { expect } from 'chai'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFiles, DatabaseNotMoved, databasePath } from '../../data/places.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { tempDir } from '../support/temp-dir.js'

describe('the place of a database', () => {
  let dir: ReturnType<typeof tempDir>
  let dataDir: string
  beforeEach(() => {
    dir = tempDir()
    dataDir = dir.path
  })
  afterEach(() => dir.remove())

  it('is refused while the database has not been moved into the new directory of its process', () => {
    const [left, own] = [join(dataDir, 'intake.db'), join(dataDir, 'order-intake', 'intake.db')]
    writeFileSync(left, '')
    expect(databasePath(dataDir, 'intake.db')).to.equal(left)
    mkdirSync(join(dataDir, 'order-intake'))
    const place = () => databasePath(dataDir, 'intake.db')
    expect(place).to.throw(DatabaseNotMoved, `${left} is not where its process keeps it, ${own}`)
    // It is still seen where it is, and others are where they were.
    expect([...databaseFiles(dataDir)]).to.deep.equal([['intake.db', left]])
    expect(databasePath(dataDir, 'executor.db')).to.equal(join(dataDir, 'executor.db'))
    renameSync(left, own)
    expect(place()).to.equal(own)
    expect([...databaseFiles(dataDir)]).to.deep.equal([['intake.db', own]])
    // Which of two is the newer one is for an operator to say.
    writeFileSync(left, '')
    expect(place).to.throw(DatabaseNotMoved)
    rmSync(left)
    writeFileSync(`${left}-wal`, '')
    expect(place).to.throw(DatabaseNotMoved)
  })

  it('is asked for by every program that names a database in DATA_DIR', () => {
    const joined = /join\([^()]*(?:DATA_DIR|dataDir)[^()]*(?:_FILES?\b|\.db['`])/
    const rooms = ['actors', 'api-gateway', 'data', 'executor']
    const found = rooms
      .flatMap((room) =>
        readdirSync(inProject(room), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.ts'))
          .map((file) => join(room, file)),
      )
      .filter((file) => joined.test(readFileSync(inProject(file), 'utf8')))
    // As it was written once.
    expect(joined.test('noteDamage(join(config.DATA_DIR, ACCOUNTS_FILE))')).to.equal(true)
    expect(found).to.deep.equal([])
  })
})
