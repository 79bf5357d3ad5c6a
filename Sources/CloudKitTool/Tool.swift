import ArgumentParser
import CloudKitCLI

@main
struct Tool {
    static func main() async {
        await CloudKitCommand.main()
    }
}
