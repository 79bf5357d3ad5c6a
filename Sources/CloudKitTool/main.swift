import CloudKitCLI

await CloudKitCommand.main()
