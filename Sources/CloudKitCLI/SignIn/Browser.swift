import Foundation

/// The browser of the user at this machine.
enum Browser {
    /// Opens a URL, and returns whether there is a browser.
    static func open(_ address: String) -> Bool {
        #if os(macOS)
        let command = ["open", address]
        #else
        let variables = ProcessInfo.processInfo.environment
        guard variables["DISPLAY"] != nil || variables["WAYLAND_DISPLAY"] != nil else {
            return false
        }
        let command = ["xdg-open", address]
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // Without the command, the caller prints the address.
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
