// The modules that `import CoreLocation` also imports on Apple platforms.
@_exported public import Foundation
