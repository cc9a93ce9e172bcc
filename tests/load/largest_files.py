"""The largest files that imports accept, one for each parser and way to be large: many rows, one value as long as the file, deep
nesting, expansions, many entries. All pack to little, so that an upload takes no time.
"""

import io
import pathlib
import sqlite3
import tempfile
import uuid
import zipfile
import zlib

# Size that a file may unpack to, less a little.
UNPACKED = (1 << 30) - (1 << 20)
CHUNK = 1 << 20
LITEBANS_COLUMNS = "(id, uuid, ip, reason, banned_by_uuid, banned_by_name, time, until, active)"


def packed(head, middle, tail=b""):
    """gzip of `head`, `middle` again and again up to the largest size, and `tail`."""
    packer = zlib.compressobj(6, wbits=31)
    again = middle * max(1, CHUNK // len(middle))
    parts = [packer.compress(head)]
    parts += [packer.compress(again) for _ in range((UNPACKED - len(head) - len(tail)) // len(again))]
    return b"".join(parts) + packer.compress(tail) + packer.flush()


def luckperms(key, value):
    """An export with one group, and that key of it."""
    head = '{"metadata":{"generatedBy":"x"},"groups":{"default":{"nodes":[]}},"users":{"%s":{"nodes":[' % uuid.UUID(int=7)
    return head.encode(), key + value, b"]}}}"


def luckperms_shorthands():
    return packed(*luckperms(b"", b'{"type":"permission","key":"a.{1-250}.{a,b,c}","value":true},'))


def luckperms_one_value():
    head, _, _ = luckperms(b"", b"")
    return packed(head + b'{"type":"permission","value":true,"key":"', b"x" * CHUNK, b'"}]}}}')


def luckperms_nested():
    return packed(b'{"groups":', b"[" * CHUNK)


def litebans_rows():
    row = b"(1,'%s','192.0.2.1','reason','CONSOLE','Console',1600000000000,0,1)," % str(uuid.UUID(int=7)).encode()
    head = f"CREATE TABLE `litebans_bans` {LITEBANS_COLUMNS};\nINSERT INTO `litebans_bans` VALUES ".encode()
    return packed(head, row)


def litebans_one_text():
    head = f"INSERT INTO `litebans_bans` {LITEBANS_COLUMNS} VALUES (1,'".encode()
    return packed(head, b"''" * (CHUNK // 2))


def litebans_columns():
    return packed(b"CREATE TABLE `litebans_bans` (", b"`c` int,")


def advancedban_script():
    return packed(b"SET DATABASE UNIQUE NAME X\nCREATE MEMORY TABLE PUBLIC.PUNISHMENTS(ID INTEGER)\n", b"INSERT INTO PUNISHMENTS VALUES(1)\n")


def sqlite_database():
    """A database whose view of a wanted table is endless, and whose rows overflow their pages."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bans.db"
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE litebans_bans (rowid TEXT, uuid TEXT, reason TEXT, time INTEGER, until INTEGER, active INTEGER)")
        rows = ((str(n), str(uuid.UUID(int=n)), "r" * 900, 1_600_000_000_000, 0, 1) for n in range(200_000))
        database.executemany("INSERT INTO litebans_bans VALUES (?, ?, ?, ?, ?, ?)", rows)
        database.execute(
            "CREATE VIEW litebans_mutes AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
            " SELECT n AS id, '' AS uuid, '' AS reason, 0 AS time, 0 AS until, 1 AS active FROM c"
        )
        database.commit()
        database.close()
        return path.read_bytes()


def essentials_archive():
    """As many entries as an archive may have."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as files:
        for number in range(65_000):
            files.writestr(f"userdata/{uuid.UUID(int=number)}.yml", "money: '1'\n" + "# filler\n" * 400)
    return archive.getvalue()


def table_one_cell():
    return packed(b"uuid,balance\n\"", b'""' * (CHUNK // 2))


def table_rows():
    return packed(b"uuid,balance\n", str(uuid.UUID(int=7)).encode() + b",1\n")


def vanilla_rows():
    return packed(b"[", b'{"uuid":"%s","name":"A","created":"x","source":"y","expires":"forever","reason":"z"},' % str(uuid.UUID(int=7)).encode())


# Kind of the import, with the rest of its query; the file.
FILES = {
    "LuckPerms, shorthands": ("luckperms", luckperms_shorthands),
    "LuckPerms, one long value": ("luckperms", luckperms_one_value),
    "LuckPerms, nested": ("luckperms", luckperms_nested),
    "LiteBans, rows": ("litebans", litebans_rows),
    "LiteBans, one long text": ("litebans", litebans_one_text),
    "LiteBans, columns": ("litebans", litebans_columns),
    "LiteBans, SQLite": ("litebans", sqlite_database),
    "AdvancedBan, a script": ("advancedban", advancedban_script),
    "EssentialsX, an archive": ("balances&currency=coins", essentials_archive),
    "balances, one long cell": ("balances&currency=coins", table_one_cell),
    "balances, rows": ("balances&currency=coins", table_rows),
    "bans of the game server": ("vanilla", vanilla_rows),
}
