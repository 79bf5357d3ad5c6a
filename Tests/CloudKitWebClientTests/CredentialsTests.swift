import CloudKitWebClient
import Foundation
import Synchronization
import Testing

@Suite("Credentials")
struct CredentialsTests {
    @Test(
        "However often a token was renewed, the next one is handed over at the same depth of calls"
    )
    func depthOfCalls() {
        let depths = Mutex<[Int]>([])
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "0") { _ in
            depths.withLock { $0.append(Thread.callStackReturnAddresses.count) }
        }
        for number in 1...50 { credentials.signIn(webAuthToken: "\(number)") }
        #expect(Set(depths.withLock { $0 }).count == 1)
    }
}
