// What `import CoreLocation` brings along on Apple platforms.
@_exported public import Foundation
