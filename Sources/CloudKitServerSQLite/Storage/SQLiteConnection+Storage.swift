import CloudKitServerCore

extension SQLiteConnection: StorageWriter {}
