# What Debian asks of a package beside the installed files: copyright, changelog, compressed manual pages. Run by cpack -G DEB before it packs.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
set(top ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${top}/share/doc/${CPACK_PACKAGE_NAME})
file(MAKE_DIRECTORY ${doc} ${top}/share/lintian/overrides)
file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
file(WRITE ${doc}/copyright "${CPACK_PACKAGE_NAME}: ${CPACK_PACKAGE_DESCRIPTION_SUMMARY}\n\n${license}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=low\n\n  * Built by CPack; 'glslines help changelog' has what changed.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
# whoever builds the package is its maintainer, and no address is known
file(WRITE ${top}/share/lintian/overrides/${CPACK_PACKAGE_NAME} "${CPACK_PACKAGE_NAME}: bogus-mail-host Maintainer *\n${CPACK_PACKAGE_NAME}: bogus-mail-host-in-debian-changelog *\n")
file(GLOB_RECURSE pages ${top}/share/man/*.[1-9])
foreach(file ${doc}/changelog ${pages})
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
